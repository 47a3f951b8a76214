/** What pages say, in German. */
import type { Messages } from '../messages.ts'

export const home: Messages['home'] = {
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
    'Vor dem Speichern werden Ort, Kameradaten, Vorschaubilder und Kommentare entfernt. Ein GIF bleibt, wie es ist.',
  notStripped: 'Gespeichert wird alles, was in der Datei steht, auch Ort und Kameradaten.',
}

export const viewer: Messages['viewer'] = {
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
}

export const remove: Messages['remove'] = {
  title: 'Dieses Bild löschen?',
  detail: 'Es ist dann endgültig weg. Niemand kann es zurückholen.',
  preview: 'Das Bild, das gelöscht würde',
  confirm: 'Löschen',
  keep: 'Behalten',
  working: 'Wird gelöscht …',
  failed: 'Das hat nicht geklappt: {reason}',
  offline: 'Der Dienst war nicht zu erreichen. Bitte noch einmal versuchen.',
  goneTitle: 'Dieses Bild ist schon gelöscht.',
  goneDetail: 'Es wurde früher gelöscht. Hier ist nichts mehr zu löschen.',
  doneTitle: 'Das Bild ist gelöscht.',
  doneDetail:
    'Hier ist es endgültig weg. Kopien, die die Browser anderer behalten haben, lassen sich nicht zurückholen.',
  another: 'Ein Bild hochladen',
}

export const result: Messages['result'] = {
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
}

export const errors: Messages['errors'] = {
  home: 'Ein Bild hochladen',
  fallbackTitle: 'Das hat nicht geklappt.',
  titles: {
    'not-found': 'Hier ist nichts.',
    held: 'Dieses Bild wird geprüft.',
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
    held: 'Der Betreiber dieses Dienstes prüft es. Bitte komm später wieder.',
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
}
