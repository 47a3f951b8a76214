/** The terms, in German. */
import type { Messages } from '../messages.ts'

export const terms: Messages['terms'] = {
  link: 'Bedingungen',
  title: 'Bedingungen',
  description: 'Was du bei Pinhole hochladen darfst und was damit geschieht.',
  operator: {
    heading: 'Wer diesen Dienst betreibt',
    named: '{name} betreibt diesen Dienst.',
    unnamed: 'Der Betreiber dieses Dienstes hat keinen Namen angegeben.',
    contact: 'Zu erreichen unter: ',
    noContact: 'Eine Kontaktadresse hat der Betreiber nicht angegeben.',
  },
  sections: [
    {
      heading: 'Was Pinhole tut',
      paragraphs: [
        'Pinhole speichert Bilder und erstellt Links zu ihnen. Mit dem Hochladen erklärst du dich mit diesen Bedingungen einverstanden.',
      ],
    },
    {
      heading: 'Was du hochladen darfst',
      paragraphs: [
        'Lade nur hoch, was du teilen darfst. Verboten sind Bilder, die gegen Gesetze verstoßen, die Menschen ohne ihr Einverständnis in intimen Situationen zeigen, die den Missbrauch von Kindern zeigen, die bedrohen oder belästigen oder die Rechte anderer verletzen.',
      ],
    },
    {
      heading: 'Was entfernt wird und warum',
      paragraphs: [
        'Der Betreiber darf Bilder entfernen, die gegen diese Bedingungen oder das Gesetz verstoßen, und verhindern, dass sie noch einmal hochgeladen werden. Wer danach den Link öffnet, erfährt, dass das Bild entfernt wurde.',
        'Bilder werden nicht entfernt, nur weil sie alt sind oder selten angesehen werden.',
      ],
    },
    {
      heading: 'Wer ein Bild sehen kann',
      paragraphs: [
        'Alle, die den Link haben. Links sind zu lang, um sie zu erraten; aber sobald du einen geteilt hast, solltest du ihn als öffentlich betrachten.',
      ],
    },
    {
      heading: 'Löschen',
      paragraphs: [
        'Mit dem Löschschlüssel, den du beim Hochladen bekommst, kannst du ein Bild jederzeit löschen. Danach ist es in diesem Dienst endgültig weg. Auf Kopien in anderen Browsern und auf das, was andere gespeichert haben, haben wir keinen Einfluss.',
      ],
    },
    {
      heading: 'Deine Daten',
      paragraphs: [
        'Kein Konto, kein Tracking, keine Cookies. Um die tägliche Höchstzahl einzuhalten, zählt der Dienst eine unkenntlich gemachte Form deiner IP-Adresse. Am Ende des Tages wird sie vergessen.',
      ],
    },
    {
      heading: 'Keine Gewähr',
      paragraphs: [
        'Der Dienst wird ohne Gewähr angeboten. Behalte eigene Kopien von Bildern, die dir wichtig sind.',
      ],
    },
  ],
}
