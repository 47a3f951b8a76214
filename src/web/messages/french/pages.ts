/** What pages say, in French. */
import type { Messages } from '../messages.ts'

export const home: Messages['home'] = {
  title: 'Pinhole\u00a0: une image, un lien',
  description:
    'Partage d’images anonyme. Choisissez une image, recevez un lien, supprimez-la quand vous voulez.',
  headline: 'Une image, un lien.',
  noAccount: 'Sans compte.',
  stripped: 'La localisation et les données de l’appareil photo sont supprimées.',
  notStripped: 'Tout le fichier est conservé, y compris la localisation et les données de l’appareil photo.',
  formats: 'JPEG, PNG, GIF, WebP ou AVIF, jusqu’à {limit}.',
  file: 'Image à envoyer',
  upload: 'Envoyer',
  paused: 'Les envois sont suspendus pour le moment. Les images déjà présentes restent accessibles.',
  uploadForADay: 'Envoyer pour un jour',
  staysUntilDeleted: 'Votre image reste jusqu’à ce que vous la supprimiez.',
  staysForATime:
    'La page de votre image dit combien de temps elle reste\u00a0; vous pouvez la supprimer avant.',
  honesty:
    'Toute personne qui a le lien peut la voir. Une fois supprimée, elle disparaît d’ici pour de bon\u00a0; les copies déjà chargées par d’autres navigateurs ne peuvent pas être effacées.',
  strippedDetail:
    'Avant l’enregistrement, la localisation, les données de l’appareil photo, les vignettes intégrées et les commentaires sont supprimés. Les GIF sont enregistrés tels quels.',
}

export const frame: Messages['frame'] = {
  back: 'Retour à Pinhole',
  tools: 'Intégrations',
}

export const viewer: Messages['viewer'] = {
  title: 'Image {type}, {width} × {height}',
  alt: 'Image partagée, {width} × {height} pixels, sans description',
  fullSize: 'Ouvrir le fichier',
  actualSize: 'Taille réelle',
  fit: 'Ajuster à l’écran',
  copyLink: 'Copier le lien',
  copyImage: 'Copier l’image',
  imageCopied: 'Image copiée',
  imageNotCopied: 'Ce navigateur ne peut pas copier cette image. Téléchargez-la plutôt.',
  sendTo: 'Partager',
  download: 'Télécharger',
  facts: 'À propos de cette image',
  type: 'Format',
  size: 'Taille',
  staysUntil: 'Reste jusqu’au',
  dimensions: 'Dimensions',
  animated: '{type}, animée',
  share: 'Partager',
  page: 'Lien',
  direct: 'Lien direct',
  markdown: 'Markdown',
  bbcode: 'BBCode',
  html: 'HTML',
  copy: 'Copier',
  copyWhat: 'Copier\u00a0: {what}',
  copied: 'Copié',
  notCopied: 'Le navigateur n’a pas autorisé la copie. Le lien est sélectionné\u00a0: appuyez sur {keys}.',
  notCopiedTouch:
    'Le navigateur n’a pas autorisé la copie. Appuyez longuement sur le lien, puis choisissez Copier.',
}

export const gallery: Messages['gallery'] = {
  title: 'Images partagées',
  count: { one: '{count} image', other: '{count} images' },
  empty: 'Cette galerie est vide.',
  emptyDetail:
    'Les images d’une galerie sont inscrites dans le lien lui-même, après le #. Veuillez ouvrir le lien entier.',
  needsScript:
    'Une galerie a besoin de JavaScript, car ses images sont inscrites dans le lien et n’atteignent jamais le serveur.',
  gone: 'Supprimée',
  held: 'En cours d’examen',
  unreachable: 'Chargement impossible',
  open: 'Image {number} sur {count}',
  previous: 'Précédente',
  next: 'Suivante',
  close: 'Fermer',
  download: 'Télécharger',
  page: 'Voir la page',
  copyLink: 'Copier le lien de la galerie',
  downloadAll: 'Tout télécharger',
  downloading: 'Téléchargement {number} sur {count}',
  missed: 'Images non téléchargées\u00a0: {count}',
}

export const remove: Messages['remove'] = {
  title: 'Supprimer cette image\u00a0?',
  detail: 'Elle disparaîtra pour de bon. Personne ne pourra la récupérer.',
  preview: 'L’image à supprimer',
  confirm: 'Supprimer',
  keep: 'Garder',
  working: 'Suppression…',
  failed: 'Suppression impossible. {reason}',
  offline: 'Le service est injoignable. Veuillez réessayer.',
  goneTitle: 'Cette image est déjà supprimée.',
  goneDetail: 'Elle a été supprimée auparavant, ou le lien est incomplet. Il n’y a plus rien à supprimer.',
  doneTitle: 'L’image est supprimée.',
  doneDetail:
    'Elle a disparu d’ici pour de bon. Les copies déjà chargées par d’autres navigateurs ne peuvent pas être effacées.',
  another: 'Envoyer une image',
}

export const result: Messages['result'] = {
  title: 'Voici votre lien.',
  view: 'Voir',
  link: 'Lien à partager',
  deleteLink: 'Lien de suppression',
  keep: 'Conservez le lien de suppression. C’est le seul moyen de supprimer l’image, et il ne s’affiche qu’une fois.',
  remaining: {
    one: 'Vous pouvez encore envoyer {count} image aujourd’hui.',
    other: 'Vous pouvez encore envoyer {count} images aujourd’hui.',
  },
  noPreviewInWhatsApp: 'Trop lourde pour un aperçu dans WhatsApp. Le lien fonctionne quand même.',
  noPreviewAtAll: 'Trop lourde pour un aperçu dans WhatsApp et X. Le lien fonctionne quand même.',
  another: 'En envoyer une autre',
}

export const pass: Messages['pass'] = {
  title: 'Un laissez-passer pour vos outils',
  lead: 'Curl, ShareX et d’autres outils peuvent envoyer {count} images avec lui, en 24 heures.',
  why: 'Ce serveur demande un petit calcul pour chaque envoi, afin que les robots paient ce qu’ils envoient. La page d’accueil le fait d’elle-même. Un laissez-passer est pour les outils qui ne savent pas le faire\u00a0: cet appareil calcule pour eux, maintenant et en une fois. Cela prend jusqu’à une minute.',
  anonymous:
    'Le laissez-passer ne dit rien de vous et n’est pas lié à cet appareil. Quiconque l’a peut l’épuiser.',
  needsScript: 'Obtenir un laissez-passer demande JavaScript\u00a0: le calcul se fait dans votre navigateur.',
  needsHttps:
    'Obtenir un laissez-passer demande une page https\u00a0: les navigateurs ne calculent pas sur les autres.',
  get: 'Obtenir un laissez-passer',
  working: 'Calcul en cours…',
  failed: 'Cela n’a pas fonctionné. Veuillez réessayer.',
  got: 'Voici votre laissez-passer.',
  label: 'Laissez-passer',
  curl: 'Envoyer avec curl',
  sharex: 'Télécharger les réglages pour ShareX',
  keep: 'Il n’est affiché qu’une fois et reste valable jusqu’au',
}

export const errors: Messages['errors'] = {
  home: 'Envoyer une image',
  fallbackTitle: 'Cela n’a pas fonctionné.',
  reason: 'Motif donné par l’exploitant\u00a0:',
  appeal: 'Si vous pensez que c’est une erreur, contactez l’exploitant\u00a0: ',
  titles: {
    'not-found': 'Il n’y a pas d’image à cette adresse.',
    held: 'Cette image est en cours d’examen.',
    removed: 'Cette image a été retirée.',
    'unknown-key': 'Cette image est déjà supprimée.',
    'missing-key': 'Il manque la clé de suppression.',
    'file-too-large': 'Cette image est trop lourde.',
    'unsupported-type': 'Ce type de fichier n’est pas accepté.',
    'damaged-image': 'Cette image est endommagée.',
    'missing-file': 'Aucune image n’a été choisie.',
    'quota-exceeded': 'La limite d’envois du jour est atteinte.',
    'uploads-paused': 'Les envois sont suspendus.',
    'storage-full': 'L’espace de stockage est plein.',
    unavailable: 'Pinhole est indisponible pour le moment.',
    'blocked-image': 'Cette image ne peut pas être envoyée ici.',
    'bad-report': 'Le signalement est incomplet.',
    'too-many-reports': 'Trop de signalements aujourd’hui.',
    busy: 'Pinhole est très sollicité.',
    'too-many-refusals': 'Trop d’envois ont échoué aujourd’hui.',
    'capacity-reached': 'L’espace de stockage est plein.',
    'network-quota-exceeded': 'Votre réseau a atteint la limite d’envois du jour.',
    'challenge-required': 'Beaucoup d’images sont venues de cette connexion aujourd’hui.',
    'cross-site': 'Cette demande venait d’un autre site.',
    'too-slow': 'Cela a pris trop de temps.',
  },
  details: {
    'not-found':
      'Le lien est peut-être incomplet, ou l’image a été supprimée par la personne qui l’a envoyée.',
    held: 'Cette image est en cours d’examen.',
    removed: 'L’exploitant de ce service l’a retirée.',
    'unknown-key': 'Elle a été supprimée auparavant, ou le lien est incomplet.',
    'missing-key': 'Le lien est incomplet. Veuillez ouvrir le lien entier.',
    'file-too-large': 'Une image peut peser jusqu’à {limit}.',
    'unsupported-type': 'Utilisez JPEG, PNG, GIF, WebP ou AVIF.',
    'damaged-image': 'Le fichier semble incomplet ou endommagé. Essayez avec une autre copie.',
    'missing-file': 'Revenez en arrière et choisissez d’abord un fichier.',
    'quota-exceeded': 'Le compteur repart de zéro à minuit (UTC).',
    'uploads-paused': 'Les images déjà présentes restent accessibles. Réessayez plus tard.',
    'storage-full': 'Réessayez plus tard.',
    unavailable: 'Réessayez dans un instant.',
    'blocked-image': 'L’exploitant de ce service l’a bloquée.',
    'bad-report':
      'Un signalement doit contenir le lien de l’image, un motif, une description de 20 à 2\u00a0000 caractères et la case cochée à la fin\u00a0; certains motifs exigent votre nom, votre adresse e-mail et votre signature.',
    'too-many-reports': 'Réessayez plus tard, ou écrivez à l’exploitant.',
    busy: 'Trop d’envois sont en cours. Réessayez dans un instant.',
    'too-many-refusals': 'Réessayez après minuit (UTC).',
    'capacity-reached': 'Réessayez plus tard.',
    'network-quota-exceeded':
      'Les envois des autres personnes de votre réseau comptent aussi. Le compteur repart de zéro à minuit (UTC).',
    'challenge-required':
      'Elle doit faire un petit calcul pour chaque nouvelle image, ce qui demande JavaScript et une page https. Veuillez réessayer depuis la page d’accueil.',
    'cross-site': 'Veuillez utiliser le formulaire de cette page.',
    'too-slow': 'Réessayez avec une meilleure connexion.',
  },
}
