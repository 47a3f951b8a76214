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
  paused: 'Hochladen ist zurzeit nicht möglich. Vorhandene Bilder bleiben erreichbar.',
  uploadForADay: 'Für einen Tag hochladen',
  staysUntilDeleted: 'Dein Bild bleibt, bis du es löschst.',
  staysForATime:
    'Auf der Seite deines Bildes steht, wie lange es bleibt; löschen kannst du es jederzeit früher.',
  honesty:
    'Wer den Link hat, kann es sehen. Löschst du es, ist es hier endgültig weg; Kopien, die andere Browser schon geladen haben, lassen sich nicht zurückholen.',
  strippedDetail:
    'Vor dem Speichern werden Ort, Kameradaten, eingebettete Vorschaubilder und Kommentare entfernt. GIFs werden unverändert gespeichert.',
}

export const frame: Messages['frame'] = {
  back: 'Zurück zu Pinhole',
  tools: 'Integrationen',
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
  staysUntil: 'Bleibt bis',
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
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt. Der Link ist markiert: Drücke {keys}.',
  notCopiedTouch: 'Der Browser hat das Kopieren nicht erlaubt. Halte den Link gedrückt und wähle „Kopieren“.',
}

export const gallery: Messages['gallery'] = {
  title: 'Geteilte Bilder',
  count: { one: '{count} Bild', other: '{count} Bilder' },
  empty: 'Diese Galerie ist leer.',
  emptyDetail:
    'Welche Bilder eine Galerie zeigt, steht im Link selbst, hinter dem #. Bitte öffne den ganzen Link.',
  needsScript:
    'Eine Galerie braucht JavaScript, weil ihre Bilder im Link selbst stehen und den Server nie erreichen.',
  gone: 'Gelöscht',
  held: 'Wird geprüft',
  unreachable: 'Nicht geladen',
  open: 'Bild {number} von {count}',
  previous: 'Zurück',
  next: 'Weiter',
  close: 'Schließen',
  download: 'Herunterladen',
  page: 'Seite ansehen',
  copyLink: 'Link zur Galerie kopieren',
  downloadAll: 'Alle herunterladen',
  downloading: '{number} von {count} wird geladen',
  missed: 'Nicht heruntergeladene Bilder: {count}',
}

export const remove: Messages['remove'] = {
  title: 'Dieses Bild löschen?',
  detail: 'Es ist dann endgültig weg. Niemand kann es zurückholen.',
  preview: 'Das Bild, das gelöscht wird',
  confirm: 'Löschen',
  keep: 'Behalten',
  working: 'Wird gelöscht …',
  failed: 'Nicht gelöscht. {reason}',
  offline: 'Der Dienst war nicht zu erreichen. Bitte versuche es noch einmal.',
  goneTitle: 'Dieses Bild ist schon gelöscht.',
  goneDetail:
    'Es wurde schon früher gelöscht, oder der Link ist unvollständig. Hier ist nichts mehr zu löschen.',
  doneTitle: 'Das Bild ist gelöscht.',
  doneDetail:
    'Hier ist es endgültig weg. Kopien, die andere Browser schon geladen haben, lassen sich nicht zurückholen.',
  another: 'Ein Bild hochladen',
}

export const result: Messages['result'] = {
  title: 'Hier ist dein Link.',
  view: 'Ansehen',
  link: 'Link zum Teilen',
  deleteLink: 'Löschlink',
  keep: 'Bewahre den Löschlink auf. Nur mit ihm lässt sich das Bild löschen, und er wird nur dieses eine Mal angezeigt.',
  remaining: {
    one: 'Heute kannst du noch {count} Bild hochladen.',
    other: 'Heute kannst du noch {count} Bilder hochladen.',
  },
  noPreviewInWhatsApp: 'Zu groß für eine Vorschau in WhatsApp. Der Link funktioniert trotzdem.',
  noPreviewAtAll: 'Zu groß für eine Vorschau in WhatsApp und X. Der Link funktioniert trotzdem.',
  another: 'Noch ein Bild hochladen',
}

export const pass: Messages['pass'] = {
  title: 'Ein Pass für deine Programme',
  lead: 'Curl, ShareX und andere Programme können damit innerhalb von 24 Stunden {count} Bilder hochladen.',
  why: 'Dieser Server verlangt für jedes Bild ein wenig Rechenarbeit, damit Bots für das bezahlen, was sie schicken. Die Seite unter / erledigt das von selbst. Ein Pass ist für Programme, die das nicht können: Dieses Gerät rechnet für sie, jetzt und auf einmal. Das dauert bis zu einer Minute.',
  anonymous:
    'Der Pass sagt nichts über dich und ist nicht an dieses Gerät gebunden. Wer ihn hat, kann ihn aufbrauchen.',
  needsScript: 'Ein Pass braucht JavaScript: Gerechnet wird in deinem Browser.',
  needsHttps: 'Ein Pass braucht eine https-Seite: Auf anderen rechnen Browser nicht.',
  get: 'Pass holen',
  working: 'Es wird gerechnet …',
  failed: 'Das hat nicht geklappt. Bitte versuche es noch einmal.',
  got: 'Hier ist dein Pass.',
  label: 'Pass',
  curl: 'Hochladen mit curl',
  sharex: 'Einstellungen für ShareX herunterladen',
  keep: 'Er wird nur einmal angezeigt und gilt bis',
}

export const errors: Messages['errors'] = {
  home: 'Ein Bild hochladen',
  fallbackTitle: 'Das hat nicht geklappt.',
  reason: 'Begründung des Betreibers:',
  appeal: 'Wenn du das für einen Irrtum hältst, wende dich an den Betreiber: ',
  titles: {
    'not-found': 'Unter diesem Link gibt es kein Bild.',
    held: 'Dieses Bild wird geprüft.',
    removed: 'Dieses Bild wurde entfernt.',
    'unknown-key': 'Dieses Bild ist schon gelöscht.',
    'missing-key': 'Der Löschschlüssel fehlt.',
    'file-too-large': 'Dieses Bild ist zu groß.',
    'unsupported-type': 'Dieser Dateityp wird nicht unterstützt.',
    'damaged-image': 'Dieses Bild ist beschädigt.',
    'missing-file': 'Es wurde kein Bild gewählt.',
    'quota-exceeded': 'Für heute sind alle Uploads verbraucht.',
    'uploads-paused': 'Hochladen ist zurzeit nicht möglich.',
    'storage-full': 'Der Speicher ist voll.',
    unavailable: 'Pinhole ist gerade nicht verfügbar.',
    'blocked-image': 'Dieses Bild kann hier nicht hochgeladen werden.',
    'bad-report': 'Die Meldung ist nicht vollständig.',
    'too-many-reports': 'Zu viele Meldungen heute.',
    busy: 'Pinhole ist ausgelastet.',
    'too-many-refusals': 'Zu viele Uploads sind heute gescheitert.',
    'capacity-reached': 'Der Speicher ist voll.',
    'network-quota-exceeded': 'Dein Netz hat die heutige Höchstzahl erreicht.',
    'challenge-required': 'Von diesem Anschluss kam heute schon viel.',
    'cross-site': 'Das kam von einer anderen Website.',
    'too-slow': 'Das hat zu lange gedauert.',
  },
  details: {
    'not-found': 'Der Link ist vielleicht unvollständig, oder wer das Bild hochgeladen hat, hat es gelöscht.',
    held: 'Dieses Bild wird geprüft.',
    removed: 'Der Betreiber dieses Dienstes hat es entfernt.',
    'unknown-key': 'Es wurde schon früher gelöscht, oder der Link ist unvollständig.',
    'missing-key': 'Der Link ist unvollständig. Bitte öffne den ganzen Link.',
    'file-too-large': 'Ein Bild darf bis zu {limit} groß sein.',
    'unsupported-type': 'Möglich sind JPEG, PNG, GIF, WebP und AVIF.',
    'damaged-image':
      'Die Datei ist offenbar unvollständig oder beschädigt. Versuche es mit einer anderen Kopie.',
    'missing-file': 'Bitte geh zurück und wähle zuerst eine Datei.',
    'quota-exceeded': 'Um Mitternacht (UTC) beginnt die Zählung neu.',
    'uploads-paused': 'Vorhandene Bilder bleiben erreichbar. Bitte versuche es später noch einmal.',
    'storage-full': 'Bitte versuche es später noch einmal.',
    unavailable: 'Bitte versuche es gleich noch einmal.',
    'blocked-image': 'Der Betreiber dieses Dienstes hat es gesperrt.',
    'bad-report':
      'Eine Meldung braucht den Link des Bildes, einen Grund, eine Beschreibung von 20 bis 2.000 Zeichen und das Häkchen am Ende; manche Gründe brauchen Name, E-Mail-Adresse und Unterschrift.',
    'too-many-reports': 'Bitte versuche es später wieder oder schreib dem Betreiber.',
    busy: 'Gerade laufen zu viele Uploads. Bitte versuche es gleich noch einmal.',
    'too-many-refusals': 'Bitte versuche es nach Mitternacht (UTC) wieder.',
    'capacity-reached': 'Bitte versuche es später noch einmal.',
    'network-quota-exceeded':
      'Auch die Uploads anderer in deinem Netz zählen. Um Mitternacht (UTC) beginnt die Zählung neu.',
    'challenge-required':
      'Für jedes weitere Bild muss er ein wenig rechnen. Das braucht JavaScript und eine https-Seite. Bitte versuche es noch einmal von der Startseite aus.',
    'cross-site': 'Bitte benutze das Formular auf dieser Seite.',
    'too-slow': 'Bitte versuche es mit einer besseren Verbindung noch einmal.',
  },
}
