/** What pages say, in English. */

export const home = {
  title: 'Pinhole: a picture in, a link out',
  description: 'Anonymous image sharing. Choose a picture, get a link, delete it whenever you like.',
  headline: 'A picture in, a link out.',
  noAccount: 'No account.',
  stripped: 'Location and camera data are removed.',
  notStripped: 'Everything in the file is kept, including location and camera data.',
  formats: 'JPEG, PNG, GIF, WebP or AVIF, up to {limit}.',
  file: 'Picture to upload',
  upload: 'Upload',
  paused: 'Uploads are paused at the moment. Pictures that are already here stay.',
  honesty:
    'Your picture stays until you delete it. Anyone who has its link can see it. Once deleted it is gone from here for good, but copies in other people’s browsers can’t be called back.',
  strippedDetail:
    'Before a picture is stored, its location, camera details, embedded previews and comments are removed. GIFs are stored unchanged.',
}

export const frame = {
  back: 'Back to Pinhole',
  tools: 'Tools',
}

export const viewer = {
  title: '{type} picture, {width} × {height}',
  alt: 'Shared picture, {width} × {height} pixels, without a description',
  fullSize: 'Open the file itself',
  actualSize: 'Actual size',
  fit: 'Fit to screen',
  copyLink: 'Copy link',
  copyImage: 'Copy image',
  imageCopied: 'Image copied',
  imageNotCopied: 'This browser can’t copy this picture. Download it instead.',
  sendTo: 'Share',
  download: 'Download',
  facts: 'About this picture',
  type: 'Type',
  size: 'Size',
  dimensions: 'Dimensions',
  animated: '{type}, animated',
  share: 'Share it',
  page: 'Link',
  direct: 'Direct link',
  markdown: 'Markdown',
  bbcode: 'BBCode',
  html: 'HTML',
  copy: 'Copy',
  copyWhat: 'Copy: {what}',
  copied: 'Copied',
  notCopied: 'This browser did not allow copying. The link is selected: press {keys}.',
  notCopiedTouch: 'This browser did not allow copying. Touch and hold the link, then choose Copy.',
}

export const gallery = {
  title: 'Shared pictures',
  count: { one: '{count} picture', other: '{count} pictures' },
  empty: 'This link names no pictures.',
  emptyDetail: 'A gallery’s pictures are listed in the link itself, after the #. Please open the whole link.',
  needsScript:
    'A gallery needs JavaScript, because its pictures are listed in the link itself and never reach the server.',
  gone: 'No longer here',
  open: 'Picture {number} of {count}',
  previous: 'Previous',
  next: 'Next',
  close: 'Close',
  download: 'Download',
  page: 'Open its page',
  copyLink: 'Copy link to all',
}

export const remove = {
  title: 'Delete this picture?',
  detail: 'It will be gone for good. Nobody can bring it back.',
  preview: 'The picture to be deleted',
  confirm: 'Delete',
  keep: 'Keep',
  working: 'Deleting …',
  failed: 'Not deleted. {reason}',
  offline: 'The service could not be reached. Please try again.',
  goneTitle: 'This picture is gone already.',
  goneDetail: 'It was deleted before, or the link is incomplete. There is nothing left to delete.',
  doneTitle: 'The picture is deleted.',
  doneDetail: 'It is gone from here for good. Copies kept by other people’s browsers can’t be called back.',
  another: 'Upload a picture',
}

export const result = {
  title: 'Here is your link.',
  view: 'View',
  link: 'Link to share',
  deleteLink: 'Deletion link',
  keep: 'Keep the deletion link. It is the only way to delete the picture, and it is shown only once.',
  remaining: {
    one: 'You can upload {count} more picture today.',
    other: 'You can upload {count} more pictures today.',
  },
  noPreviewInWhatsApp:
    'WhatsApp shows no preview of a picture this large. The link works there all the same.',
  noPreviewAtAll:
    'WhatsApp and X show no preview of a picture this large. The link works there all the same.',
  another: 'Upload another',
}

export const errors = {
  home: 'Upload a picture',
  fallbackTitle: 'That did not work.',
  reason: 'The operator’s reason:',
  appeal: 'If that is a mistake, tell the operator: ',
  titles: {
    'not-found': 'Nothing here.',
    held: 'This picture is being checked.',
    removed: 'This picture was removed.',
    'unknown-key': 'This picture is gone already.',
    'missing-key': 'The deletion key is missing.',
    'file-too-large': 'This picture is too large.',
    'unsupported-type': 'This file type isn’t supported.',
    'damaged-image': 'This picture is damaged.',
    'missing-file': 'No picture was chosen.',
    'quota-exceeded': 'Today’s uploads are used up.',
    'uploads-paused': 'Uploads are paused.',
    'storage-full': 'There is no room left.',
    unavailable: 'Pinhole can’t do that right now.',
    'blocked-image': 'This picture can’t be uploaded here.',
    'bad-report': 'The report is not complete.',
    'too-many-reports': 'Too many reports today.',
    busy: 'Pinhole is busy.',
    'too-many-refusals': 'Too many uploads failed today.',
    'capacity-reached': 'There is no room left.',
    'network-quota-exceeded': 'Today’s uploads are used up.',
    'cross-site': 'That came from another site.',
    'too-slow': 'That took too long.',
  } as Record<string, string>,
  details: {
    'not-found': 'The link is wrong, or the picture was deleted by whoever uploaded it.',
    held: 'The operator of this service is checking it. Please come back later.',
    removed: 'The operator of this service removed it.',
    'unknown-key': 'It was deleted before, or the link is incomplete.',
    'missing-key': 'The link is incomplete. Please open the whole link.',
    'file-too-large': 'A picture can be up to {limit}.',
    'unsupported-type': 'Use JPEG, PNG, GIF, WebP or AVIF.',
    'damaged-image': 'The file seems to be cut off or broken. Please try another copy of it.',
    'missing-file': 'Please go back and choose a file first.',
    'quota-exceeded': 'The count starts again at midnight UTC.',
    'uploads-paused': 'Pictures that are already here stay. Please try again later.',
    'storage-full': 'Please try again later.',
    unavailable: 'Please try again in a moment.',
    'blocked-image': 'The operator of this service has blocked it.',
    'bad-report':
      'A report needs the link of the picture, a reason, a description of 20 to 2,000 characters, and the tick at its end; some reasons need your name, e-mail address and signature.',
    'too-many-reports': 'Please try again later, or write to the operator.',
    busy: 'Too many uploads are under way. Please try again in a moment.',
    'too-many-refusals': 'Please try again after midnight UTC.',
    'capacity-reached': 'Please try again later.',
    'network-quota-exceeded':
      'Others in your network have used them. The count starts again at midnight UTC.',
    'cross-site': 'Please use the form on this page.',
    'too-slow': 'Please try again on a better connection.',
  } as Record<string, string>,
}
