/** Every sentence that people read, in every language. `{name}` stands for a value. */

const english = {
  lang: 'en',
  dir: 'ltr' as 'ltr' | 'rtl',
  back: 'Back to Pinhole',
  home: {
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
      'Before it is stored, place, camera details, thumbnails and comments are taken out of it; the pixels stay. A GIF stays as it is.',
    notStripped: 'It is stored with everything that is in the file, such as place and camera details.',
  },
  viewer: {
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
  },
  remove: {
    title: 'Delete this picture?',
    detail: 'It will be gone for good. Nobody can bring it back.',
    preview: 'The picture that would be deleted',
    confirm: 'Delete it',
    keep: 'Keep it',
    working: 'Deleting …',
    failed: 'That did not work: {reason}',
    offline: 'The service could not be reached. Please try again.',
    doneTitle: 'The picture is deleted.',
    doneDetail:
      'It is gone from here for good. Copies that other people’s browsers have kept can’t be called back.',
    another: 'Upload a picture',
  },
  result: {
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
  },
  terms: {
    link: 'Terms',
    title: 'Terms',
    text: `Pinhole stores pictures and hands out links to them. By uploading you accept the following.

Upload only what you may share. No pictures that are illegal, that show people in intimate situations without their consent, that abuse children, that threaten or harass, or that infringe the rights of others.

The operator of this service may remove any picture that breaks these terms, and may block it from being uploaded again.

Anyone who has a picture’s link can see it. Links are too long to guess, but treat them as public once you have shared them.

With the deletion key that you get when you upload, you can delete a picture at any time. It is then gone from this service for good. Copies in other people’s browsers, and copies that other people have saved, are out of our reach.

No account, no tracking. To hold the limit of uploads a day, a scrambled form of your network address is counted, and forgotten when the day is over.

The service comes as it is, without warranty. Keep your own copies of pictures that matter to you.`,
  },
  errors: {
    home: 'Upload a picture',
    fallbackTitle: 'That did not work.',
    titles: {
      'not-found': 'Nothing here.',
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
  },
}

export type Messages = typeof english

const german: Messages = {
  lang: 'de',
  dir: 'ltr',
  back: 'Zurück zu Pinhole',
  home: {
    title: 'Pinhole: Bild ablegen, Link bekommen',
    description: 'Anonym Bilder teilen. Bild ablegen, Link bekommen, jederzeit löschen.',
    headline: 'Bild ablegen, Link bekommen.',
    lead: 'JPEG, PNG, GIF, WebP oder AVIF, bis {limit}. Ohne Konto.',
    file: 'Bild zum Hochladen',
    upload: 'Hochladen',
    paused: 'Zurzeit kann nichts hochgeladen werden. Vorhandene Bilder bleiben.',
    honesty:
      'Dein Bild bleibt, bis du es löschst. Wer den Link hat, kann es sehen. Wenn du es löschst, ist es hier endgültig weg, aber Kopien in den Browsern anderer lassen sich nicht zurückholen.',
    stripped:
      'Vor dem Speichern werden Ort, Kameradaten, Vorschaubilder und Kommentare entfernt; die Pixel bleiben. Ein GIF bleibt, wie es ist.',
    notStripped: 'Gespeichert wird alles, was in der Datei steht, auch Ort und Kameradaten.',
  },
  viewer: {
    title: '{type}-Bild, {width} × {height}',
    alt: 'Geteiltes Bild, {width} × {height} Pixel, ohne Beschreibung',
    fullSize: 'In voller Größe öffnen',
    download: 'Herunterladen',
    facts: 'Über dieses Bild',
    type: 'Format',
    size: 'Größe',
    dimensions: 'Abmessungen',
    animated: '{type}, animiert',
    share: 'Teilen',
    page: 'Link',
    direct: 'Direkter Link',
    markdown: 'Markdown',
    bbcode: 'BBCode',
    html: 'HTML',
    copy: 'Kopieren',
    copyWhat: 'Kopieren: {what}',
    copied: 'Kopiert',
  },
  remove: {
    title: 'Dieses Bild löschen?',
    detail: 'Es ist dann endgültig weg. Niemand kann es zurückholen.',
    preview: 'Das Bild, das gelöscht würde',
    confirm: 'Löschen',
    keep: 'Behalten',
    working: 'Wird gelöscht …',
    failed: 'Das hat nicht geklappt: {reason}',
    offline: 'Der Dienst war nicht zu erreichen. Bitte noch einmal versuchen.',
    doneTitle: 'Das Bild ist gelöscht.',
    doneDetail:
      'Hier ist es endgültig weg. Kopien, die die Browser anderer behalten haben, lassen sich nicht zurückholen.',
    another: 'Ein Bild hochladen',
  },
  result: {
    title: 'Hier ist dein Link.',
    view: 'Ansehen',
    link: 'Link zum Teilen',
    deleteLink: 'Link zum Löschen',
    keep: 'Heb den zweiten Link auf. Nur mit ihm lässt sich das Bild löschen, und er wird nur dieses eine Mal gezeigt.',
    remaining: {
      one: 'Heute kannst du noch {count} Bild hochladen.',
      other: 'Heute kannst du noch {count} Bilder hochladen.',
    },
    another: 'Noch eines hochladen',
  },
  terms: {
    link: 'Bedingungen',
    title: 'Bedingungen',
    text: `Pinhole speichert Bilder und gibt Links dazu aus. Wer hochlädt, ist mit Folgendem einverstanden.

Lade nur hoch, was du teilen darfst. Keine Bilder, die verboten sind, die Menschen ohne ihr Einverständnis in intimen Situationen zeigen, die Kinder missbrauchen, die drohen oder belästigen oder die Rechte anderer verletzen.

Wer diesen Dienst betreibt, darf Bilder entfernen, die gegen diese Bedingungen verstoßen, und verhindern, dass sie noch einmal hochgeladen werden.

Wer den Link zu einem Bild hat, kann es sehen. Links sind zu lang zum Erraten; sobald du sie geteilt hast, betrachte sie als öffentlich.

Mit dem Löschschlüssel, den du beim Hochladen bekommst, kannst du ein Bild jederzeit löschen. Danach ist es in diesem Dienst endgültig weg. Kopien in den Browsern anderer, und was andere gespeichert haben, erreichen wir nicht.

Kein Konto, keine Verfolgung. Für die Höchstzahl am Tag wird eine verschlüsselte Form deiner Netzadresse gezählt und nach Ende des Tages vergessen.

Der Dienst kommt, wie er ist, ohne Gewähr. Behalte eigene Kopien von Bildern, die dir wichtig sind.`,
  },
  errors: {
    home: 'Ein Bild hochladen',
    fallbackTitle: 'Das hat nicht geklappt.',
    titles: {
      'not-found': 'Hier ist nichts.',
      removed: 'Dieses Bild wurde entfernt.',
      'unknown-key': 'Kein Bild zu diesem Schlüssel.',
      'missing-key': 'Der Löschschlüssel fehlt.',
      'file-too-large': 'Dieses Bild ist zu groß.',
      'unsupported-type': 'Das ist kein Bild, das wir aufheben können.',
      'damaged-image': 'Dieses Bild ist beschädigt.',
      'missing-file': 'Es wurde kein Bild gewählt.',
      'quota-exceeded': 'Das war alles für heute.',
      'uploads-paused': 'Hochladen ist zurzeit nicht möglich.',
      'storage-full': 'Es ist kein Platz mehr.',
      unavailable: 'Pinhole kann das gerade nicht.',
      'blocked-image': 'Dieses Bild ist hier nicht erwünscht.',
    },
    details: {
      'not-found': 'Der Link stimmt nicht, oder wer das Bild hochgeladen hat, hat es gelöscht.',
      removed: 'Der Betreiber dieses Dienstes hat es entfernt, weil es gegen die Bedingungen verstieß.',
      'unknown-key': 'Vielleicht ist es schon gelöscht, oder der Link ist unvollständig.',
      'missing-key': 'Der Link ist unvollständig. Bitte den ganzen Link öffnen.',
      'file-too-large': 'Bilder dürfen bis zu {limit} groß sein.',
      'unsupported-type': 'Möglich sind JPEG, PNG, GIF, WebP und AVIF.',
      'damaged-image': 'Die Datei ist wohl abgeschnitten oder kaputt. Bitte eine andere Kopie versuchen.',
      'missing-file': 'Bitte zurückgehen und erst eine Datei wählen.',
      'quota-exceeded': 'Für heute ist alles verbraucht. Um Mitternacht (UTC) beginnt die Zählung neu.',
      'uploads-paused': 'Vorhandene Bilder bleiben. Bitte später noch einmal versuchen.',
      'storage-full': 'Bitte später noch einmal versuchen.',
      unavailable: 'Bitte gleich noch einmal versuchen.',
      'blocked-image': 'Der Betreiber dieses Dienstes hat es gesperrt.',
    },
  },
}

const french: Messages = {
  lang: 'fr',
  dir: 'ltr',
  back: 'Retour à Pinhole',
  home: {
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
      'Avant l’enregistrement, le lieu, les données de l’appareil, les vignettes et les commentaires sont retirés ; les pixels restent. Un GIF reste tel quel.',
    notStripped:
      'Elle est enregistrée avec tout ce que contient le fichier, y compris le lieu et les données de l’appareil.',
  },
  viewer: {
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
  },
  remove: {
    title: 'Supprimer cette image ?',
    detail: 'Elle disparaîtra pour de bon. Personne ne pourra la récupérer.',
    preview: 'L’image qui serait supprimée',
    confirm: 'Supprimer',
    keep: 'Garder',
    working: 'Suppression …',
    failed: 'Cela n’a pas marché : {reason}',
    offline: 'Le service est injoignable. Veuillez réessayer.',
    doneTitle: 'L’image est supprimée.',
    doneDetail:
      'Elle a disparu d’ici pour de bon. Les copies gardées par les navigateurs d’autres personnes ne peuvent pas être rappelées.',
    another: 'Envoyer une image',
  },
  result: {
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
  },
  terms: {
    link: 'Conditions',
    title: 'Conditions',
    text: `Pinhole conserve des images et donne des liens vers elles. En envoyant une image, vous acceptez ce qui suit.

N’envoyez que ce que vous avez le droit de partager. Aucune image illégale, montrant des personnes dans leur intimité sans leur accord, abusant d’enfants, menaçante ou harcelante, ou portant atteinte aux droits d’autrui.

L’exploitant de ce service peut retirer toute image contraire à ces conditions et empêcher qu’elle soit envoyée de nouveau.

Toute personne qui a le lien d’une image peut la voir. Les liens sont trop longs pour être devinés, mais considérez-les comme publics dès que vous les avez partagés.

Avec la clé de suppression reçue à l’envoi, vous pouvez supprimer une image à tout moment. Elle disparaît alors de ce service pour de bon. Les copies dans les navigateurs d’autres personnes, et celles qu’elles ont enregistrées, sont hors de notre portée.

Pas de compte, pas de pistage. Pour tenir la limite quotidienne, une forme brouillée de votre adresse réseau est comptée, puis oubliée à la fin de la journée.

Le service est fourni tel quel, sans garantie. Gardez vos propres copies des images qui comptent pour vous.`,
  },
  errors: {
    home: 'Envoyer une image',
    fallbackTitle: 'Cela n’a pas marché.',
    titles: {
      'not-found': 'Il n’y a rien ici.',
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
  },
}

export const LANGUAGES: Messages[] = [english, german, french]
