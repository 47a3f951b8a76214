/** What pages say, in French. */
import type { Messages } from '../messages.ts'

export const home: Messages['home'] = {
  title: 'Pinhole : déposez une image, recevez un lien',
  description:
    'Partage d’images anonyme. Déposez une image, recevez un lien, supprimez-la quand vous voulez.',
  headline: 'Déposez une image, recevez un lien.',
  lead: 'JPEG, PNG, GIF, WebP ou AVIF, jusqu’à {limit}. Sans compte.',
  file: 'Image à envoyer',
  upload: 'Envoyer',
  paused: 'Les envois sont suspendus pour le moment. Les images déjà là restent en place.',
  honesty:
    'Votre image est conservée jusqu’à ce que vous la supprimiez. Toute personne qui a le lien peut la voir. Une fois supprimée, elle disparaît d’ici pour de bon, mais les copies dans les navigateurs d’autres personnes ne peuvent pas être rappelées.',
  stripped:
    'Avant l’enregistrement, le lieu, les données de l’appareil, les vignettes et les commentaires sont retirés. Un GIF reste tel quel.',
  notStripped:
    'Elle est enregistrée avec tout ce que contient le fichier, y compris le lieu et les données de l’appareil.',
}

export const viewer: Messages['viewer'] = {
  title: 'Image {type}, {width} × {height}',
  alt: 'Image partagée, {width} × {height} pixels, sans description',
  fullSize: 'Ouvrir en taille réelle',
  download: 'Télécharger',
  facts: 'À propos de cette image',
  type: 'Format',
  size: 'Taille',
  dimensions: 'Dimensions',
  animated: '{type}, animée',
  share: 'Partager',
  page: 'Lien',
  direct: 'Lien direct',
  markdown: 'Markdown',
  bbcode: 'BBCode',
  html: 'HTML',
  copy: 'Copier',
  copyWhat: 'Copier : {what}',
  copied: 'Copié',
}

export const remove: Messages['remove'] = {
  title: 'Supprimer cette image ?',
  detail: 'Elle disparaîtra pour de bon. Personne ne pourra la récupérer.',
  preview: 'L’image qui serait supprimée',
  confirm: 'Supprimer',
  keep: 'Garder',
  working: 'Suppression …',
  failed: 'Cela n’a pas marché : {reason}',
  offline: 'Le service est injoignable. Veuillez réessayer.',
  goneTitle: 'Cette image est déjà supprimée.',
  goneDetail: 'Elle a été supprimée auparavant. Il n’y a plus rien à supprimer.',
  doneTitle: 'L’image est supprimée.',
  doneDetail:
    'Elle a disparu d’ici pour de bon. Les copies gardées par les navigateurs d’autres personnes ne peuvent pas être rappelées.',
  another: 'Envoyer une image',
}

export const result: Messages['result'] = {
  title: 'Voici votre lien.',
  view: 'La voir',
  link: 'Lien à partager',
  deleteLink: 'Lien de suppression',
  keep: 'Gardez le second lien. C’est le seul moyen de supprimer l’image, et il n’est montré que cette fois.',
  remaining: {
    one: 'Vous pouvez encore envoyer {count} image aujourd’hui.',
    other: 'Vous pouvez encore envoyer {count} images aujourd’hui.',
  },
  another: 'En envoyer une autre',
}

export const errors: Messages['errors'] = {
  home: 'Envoyer une image',
  fallbackTitle: 'Cela n’a pas marché.',
  titles: {
    'not-found': 'Il n’y a rien ici.',
    held: 'Cette image est en cours de vérification.',
    removed: 'Cette image a été retirée.',
    'unknown-key': 'Aucune image pour cette clé.',
    'missing-key': 'La clé de suppression manque.',
    'file-too-large': 'Cette image est trop grande.',
    'unsupported-type': 'Nous ne pouvons pas garder ce fichier.',
    'damaged-image': 'Cette image est endommagée.',
    'missing-file': 'Aucune image n’a été choisie.',
    'quota-exceeded': 'C’est tout pour aujourd’hui.',
    'uploads-paused': 'Les envois sont suspendus.',
    'storage-full': 'Il n’y a plus de place.',
    unavailable: 'Pinhole ne peut pas le faire en ce moment.',
    'blocked-image': 'Cette image n’est pas la bienvenue ici.',
  },
  details: {
    'not-found': 'Le lien est faux, ou la personne qui a envoyé l’image l’a supprimée.',
    held: 'L’exploitant de ce service la vérifie. Revenez plus tard.',
    removed: 'L’exploitant de ce service l’a retirée, car elle était contraire aux conditions.',
    'unknown-key': 'Elle est peut-être déjà supprimée, ou le lien est incomplet.',
    'missing-key': 'Le lien est incomplet. Veuillez ouvrir le lien entier.',
    'file-too-large': 'Les images peuvent faire jusqu’à {limit}.',
    'unsupported-type': 'JPEG, PNG, GIF, WebP et AVIF sont acceptés.',
    'damaged-image': 'Le fichier semble coupé ou abîmé. Essayez une autre copie.',
    'missing-file': 'Revenez en arrière et choisissez d’abord un fichier.',
    'quota-exceeded': 'La limite du jour est atteinte. Le compte repart à minuit UTC.',
    'uploads-paused': 'Les images déjà là restent en place. Réessayez plus tard.',
    'storage-full': 'Réessayez plus tard.',
    unavailable: 'Réessayez dans un instant.',
    'blocked-image': 'L’exploitant de ce service l’a bloquée.',
  },
}
