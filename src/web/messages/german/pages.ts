/** What pages say, in German. */
import type { Messages } from '../messages.ts'

export const home: Messages['home'] = {
  title: 'Pinhole: Bild rein, Link raus',
  description: 'Anonym Bilder teilen. Bild wählen, Link bekommen, jederzeit löschen.',
  headline: 'Bild rein, Link raus.',
  noAccount: 'Ohne Konto.',
  stripped: 'Ort und Kameradaten werden entfernt.',
  notStripped: 'Alles in der Datei bleibt erhalten, auch Ort und Kameradaten.',
  formats: 'JPEG, PNG, GIF, WebP oder AVIF, bis {limit}.',
  file: 'Bild zum Hochladen',
  upload: 'Hochladen',
  paused: 'Zurzeit kann nichts hochgeladen werden. Vorhandene Bilder bleiben.',
  honesty:
    'Dein Bild bleibt, bis du es löschst. Wer den Link hat, kann es sehen. Gelöscht ist es hier endgültig weg, aber Kopien in den Browsern anderer lassen sich nicht zurückholen.',
  strippedDetail:
    'Vor dem Speichern werden Ort, Kameradaten, eingebettete Vorschaubilder und Kommentare entfernt. GIFs werden unverändert gespeichert.',
}

export const frame: Messages['frame'] = {
  back: 'Zurück zu Pinhole',
  tools: 'Anderswo verwenden',
}

export const viewer: Messages['viewer'] = {
  title: '{type}-Bild, {width} × {height}',
  alt: 'Geteiltes Bild, {width} × {height} Pixel, ohne Beschreibung',
  fullSize: 'Die Datei selbst öffnen',
  actualSize: 'Originalgröße',
  fit: 'Einpassen',
  copyLink: 'Link kopieren',
  copyImage: 'Bild kopieren',
  imageCopied: 'Bild kopiert',
  imageNotCopied: 'Dieser Browser kann das Bild nicht kopieren. Lade es stattdessen herunter.',
  sendTo: 'Teilen',
  download: 'Herunterladen',
  facts: 'Über dieses Bild',
  type: 'Format',
  size: 'Größe',
  dimensions: 'Abmessungen',
  animated: '{type}, animiert',
  share: 'Teilen',
  page: 'Link',
  direct: 'Direktlink',
  markdown: 'Markdown',
  bbcode: 'BBCode',
  html: 'HTML',
  copy: 'Kopieren',
  copyWhat: 'Kopieren: {what}',
  copied: 'Kopiert',
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt. Der Link ist markiert: {keys} drücken.',
  notCopiedTouch: 'Der Browser hat das Kopieren nicht erlaubt. Halte den Link gedrückt und wähle „Kopieren“.',
}

export const gallery: Messages['gallery'] = {
  title: 'Geteilte Bilder',
  count: { one: '{count} Bild', other: '{count} Bilder' },
  empty: 'Dieser Link nennt keine Bilder.',
  emptyDetail:
    'Welche Bilder eine Galerie zeigt, steht im Link selbst, hinter dem #. Bitte den ganzen Link öffnen.',
  needsScript:
    'Eine Galerie braucht JavaScript, weil ihre Bilder im Link selbst stehen und den Server nie erreichen.',
  gone: 'Nicht mehr da',
  open: 'Bild {number} von {count}',
  previous: 'Zurück',
  next: 'Weiter',
  close: 'Schließen',
  download: 'Herunterladen',
  page: 'Seite öffnen',
  copyLink: 'Link zu allen kopieren',
}

export const remove: Messages['remove'] = {
  title: 'Dieses Bild löschen?',
  detail: 'Es ist dann endgültig weg. Niemand kann es zurückholen.',
  preview: 'Das Bild, das gelöscht wird',
  confirm: 'Löschen',
  keep: 'Behalten',
  working: 'Wird gelöscht …',
  failed: 'Nicht gelöscht. {reason}',
  offline: 'Der Dienst war nicht zu erreichen. Bitte noch einmal versuchen.',
  goneTitle: 'Dieses Bild ist schon gelöscht.',
  goneDetail: 'Es wurde früher gelöscht, oder der Link ist unvollständig. Hier ist nichts mehr zu löschen.',
  doneTitle: 'Das Bild ist gelöscht.',
  doneDetail: 'Hier ist es endgültig weg. Kopien in den Browsern anderer lassen sich nicht zurückholen.',
  another: 'Ein Bild hochladen',
}

export const result: Messages['result'] = {
  title: 'Hier ist dein Link.',
  view: 'Ansehen',
  link: 'Link zum Teilen',
  deleteLink: 'Löschlink',
  keep: 'Heb den Löschlink auf. Nur mit ihm lässt sich das Bild löschen, und er wird nur einmal gezeigt.',
  remaining: {
    one: 'Heute kannst du noch {count} Bild hochladen.',
    other: 'Heute kannst du noch {count} Bilder hochladen.',
  },
  noPreviewInWhatsApp: 'WhatsApp zeigt keine Vorschau von Bildern über 600 KB. Der Link geht dort trotzdem.',
  noPreviewAtAll:
    'WhatsApp und X zeigen keine Vorschau von einem so großen Bild. Der Link geht dort trotzdem.',
  another: 'Noch eines hochladen',
}

export const errors: Messages['errors'] = {
  home: 'Ein Bild hochladen',
  fallbackTitle: 'Das hat nicht geklappt.',
  reason: 'Grund: {reason}',
  titles: {
    'not-found': 'Hier ist nichts.',
    held: 'Dieses Bild wird geprüft.',
    removed: 'Dieses Bild wurde entfernt.',
    'unknown-key': 'Dieses Bild ist schon gelöscht.',
    'missing-key': 'Der Löschschlüssel fehlt.',
    'file-too-large': 'Dieses Bild ist zu groß.',
    'unsupported-type': 'Diese Dateiart wird nicht unterstützt.',
    'damaged-image': 'Dieses Bild ist beschädigt.',
    'missing-file': 'Es wurde kein Bild gewählt.',
    'quota-exceeded': 'Für heute sind alle Uploads verbraucht.',
    'uploads-paused': 'Hochladen ist zurzeit nicht möglich.',
    'storage-full': 'Es ist kein Platz mehr.',
    unavailable: 'Pinhole kann das gerade nicht.',
    'blocked-image': 'Dieses Bild kann hier nicht hochgeladen werden.',
  },
  details: {
    'not-found': 'Der Link stimmt nicht, oder das Bild wurde von seinem Besitzer gelöscht.',
    held: 'Der Betreiber dieses Dienstes prüft es. Bitte komm später wieder.',
    removed: 'Der Betreiber dieses Dienstes hat es entfernt.',
    'unknown-key': 'Es wurde früher gelöscht, oder der Link ist unvollständig.',
    'missing-key': 'Der Link ist unvollständig. Bitte den ganzen Link öffnen.',
    'file-too-large': 'Ein Bild darf bis zu {limit} groß sein.',
    'unsupported-type': 'Möglich sind JPEG, PNG, GIF, WebP und AVIF.',
    'damaged-image': 'Die Datei ist wohl abgeschnitten oder kaputt. Bitte eine andere Kopie versuchen.',
    'missing-file': 'Bitte zurückgehen und erst eine Datei wählen.',
    'quota-exceeded': 'Um Mitternacht (UTC) beginnt die Zählung neu.',
    'uploads-paused': 'Vorhandene Bilder bleiben. Bitte später noch einmal versuchen.',
    'storage-full': 'Bitte später noch einmal versuchen.',
    unavailable: 'Bitte gleich noch einmal versuchen.',
    'blocked-image': 'Der Betreiber dieses Dienstes hat es gesperrt.',
  },
}
