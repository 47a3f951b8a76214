/** What pages say, in English. */

export const home = {
  title: 'Pinhole: drop a picture, get a link',
  description: 'Anonymous image sharing. Drop a picture, get a link, delete it when you like.',
  headline: 'Drop a picture, get a link.',
  lead: 'JPEG, PNG, GIF, WebP or AVIF, up to {limit}. No account.',
  file: 'Picture to upload',
  upload: 'Upload',
  paused: 'Uploads are paused at the moment. Pictures that are here stay here.',
  honesty:
    'Your picture is kept until you delete it. Anyone who has its link can see it. When you delete it, it is gone from here for good, but copies in other people’s browsers can’t be called back.',
  stripped:
    'Before it is stored, place, camera details, thumbnails and comments are taken out of it. A GIF stays as it is.',
  notStripped: 'It is stored with everything that is in the file, such as place and camera details.',
}

export const viewer = {
  title: '{type} picture, {width} × {height}',
  alt: 'Shared picture, {width} × {height} pixels, without a description',
  fullSize: 'Open in full size',
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
}

export const remove = {
  title: 'Delete this picture?',
  detail: 'It will be gone for good. Nobody can bring it back.',
  preview: 'The picture that would be deleted',
  confirm: 'Delete it',
  keep: 'Keep it',
  working: 'Deleting …',
  failed: 'That did not work: {reason}',
  offline: 'The service could not be reached. Please try again.',
  goneTitle: 'This picture is gone already.',
  goneDetail: 'It was deleted before. There is nothing left to delete.',
  doneTitle: 'The picture is deleted.',
  doneDetail:
    'It is gone from here for good. Copies that other people’s browsers have kept can’t be called back.',
  another: 'Upload a picture',
}

export const result = {
  title: 'Here is your link.',
  view: 'Look at it',
  link: 'Link to share',
  deleteLink: 'Link that deletes it',
  keep: 'Keep the second link. It is the only way to delete the picture, and it is shown only this once.',
  remaining: {
    one: 'You can upload {count} more picture today.',
    other: 'You can upload {count} more pictures today.',
  },
  another: 'Upload another',
}

export const errors = {
  home: 'Upload a picture',
  fallbackTitle: 'That did not work.',
  titles: {
    'not-found': 'Nothing here.',
    held: 'This picture is being checked.',
    removed: 'This picture was removed.',
    'unknown-key': 'No picture for this key.',
    'missing-key': 'The deletion key is missing.',
    'file-too-large': 'This picture is too large.',
    'unsupported-type': 'This is not a picture we can keep.',
    'damaged-image': 'This picture is damaged.',
    'missing-file': 'No picture was chosen.',
    'quota-exceeded': 'That is all for today.',
    'uploads-paused': 'Uploads are paused.',
    'storage-full': 'There is no room left.',
    unavailable: 'Pinhole can’t do that right now.',
    'blocked-image': 'This picture is not welcome here.',
  } as Record<string, string>,
  details: {
    'not-found': 'The link is wrong, or whoever uploaded the picture has deleted it.',
    held: 'The operator of this service is checking it. Please come back later.',
    removed: 'The operator of this service removed it, because it broke the terms.',
    'unknown-key': 'It may be deleted already, or the link is incomplete.',
    'missing-key': 'The link is incomplete. Please open the whole link.',
    'file-too-large': 'Pictures may have up to {limit}.',
    'unsupported-type': 'JPEG, PNG, GIF, WebP and AVIF are.',
    'damaged-image': 'The file seems to be cut off or broken. Please try another copy of it.',
    'missing-file': 'Please go back and choose a file first.',
    'quota-exceeded': 'You have used up today’s uploads. The count starts anew at midnight UTC.',
    'uploads-paused': 'Pictures that are here stay here. Please try again later.',
    'storage-full': 'Please try again later.',
    unavailable: 'Please try again in a moment.',
    'blocked-image': 'The operator of this service has blocked it.',
  } as Record<string, string>,
}
