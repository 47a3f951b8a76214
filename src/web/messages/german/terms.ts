/** The terms, in German. */
import type { Messages } from '../messages.ts'

export const terms: Messages['terms'] = {
  link: 'Bedingungen',
  title: 'Bedingungen',
  description: 'Was du bei Pinhole hochladen darfst, und was damit geschieht.',
  operator: {
    heading: 'Wer diesen Dienst betreibt',
    named: '{name} betreibt diesen Dienst.',
    unnamed: 'Wer diesen Dienst betreibt, hat keinen Namen angegeben.',
    contact: 'Zu erreichen unter: ',
    noContact: 'Wie der Betreiber zu erreichen ist, hat er nicht angegeben.',
  },
  sections: [
    {
      heading: 'Was Pinhole tut',
      paragraphs: [
        'Pinhole speichert Bilder und gibt Links dazu aus. Wer hochlädt, ist mit dem einverstanden, was hier steht.',
      ],
    },
    {
      heading: 'Was du hochladen darfst',
      paragraphs: [
        'Lade nur hoch, was du teilen darfst. Keine Bilder, die verboten sind, die Menschen ohne ihr Einverständnis in intimen Situationen zeigen, die Kinder missbrauchen, die drohen oder belästigen oder die Rechte anderer verletzen.',
      ],
    },
    {
      heading: 'Was entfernt wird, und warum',
      paragraphs: [
        'Der Betreiber darf Bilder entfernen, die gegen diese Bedingungen oder das Gesetz verstoßen, und verhindern, dass sie noch einmal hochgeladen werden. Unter der Adresse eines entfernten Bildes steht dann, dass es entfernt wurde.',
        'Kein Bild wird entfernt, weil es alt ist oder selten angesehen wird.',
      ],
    },
    {
      heading: 'Wer ein Bild sehen kann',
      paragraphs: [
        'Wer den Link hat. Links sind zu lang zum Erraten; sobald du sie geteilt hast, betrachte sie als öffentlich.',
      ],
    },
    {
      heading: 'Löschen',
      paragraphs: [
        'Mit dem Löschschlüssel, den du beim Hochladen bekommst, kannst du ein Bild jederzeit löschen. Danach ist es in diesem Dienst endgültig weg. Kopien in den Browsern anderer, und was andere gespeichert haben, erreichen wir nicht.',
      ],
    },
    {
      heading: 'Deine Daten',
      paragraphs: [
        'Kein Konto, kein Tracking, keine Cookies. Für die Höchstzahl am Tag wird eine verschlüsselte Form deiner Netzadresse gezählt und nach Ende des Tages vergessen.',
      ],
    },
    {
      heading: 'Keine Gewähr',
      paragraphs: ['Der Dienst kommt, wie er ist. Behalte eigene Kopien von Bildern, die dir wichtig sind.'],
    },
  ],
}
