/** The terms, in German. */
import type { Messages } from '../messages.ts'

export const terms: Messages['terms'] = {
  link: 'Bedingungen',
  title: 'Bedingungen',
  description: 'Was du bei Pinhole hochladen darfst, und was damit geschieht.',
  text: `Pinhole speichert Bilder und gibt Links dazu aus. Wer hochlädt, ist mit Folgendem einverstanden.

Lade nur hoch, was du teilen darfst. Keine Bilder, die verboten sind, die Menschen ohne ihr Einverständnis in intimen Situationen zeigen, die Kinder missbrauchen, die drohen oder belästigen oder die Rechte anderer verletzen.

Wer diesen Dienst betreibt, darf Bilder entfernen, die gegen diese Bedingungen verstoßen, und verhindern, dass sie noch einmal hochgeladen werden.

Wer den Link zu einem Bild hat, kann es sehen. Links sind zu lang zum Erraten; sobald du sie geteilt hast, betrachte sie als öffentlich.

Mit dem Löschschlüssel, den du beim Hochladen bekommst, kannst du ein Bild jederzeit löschen. Danach ist es in diesem Dienst endgültig weg. Kopien in den Browsern anderer, und was andere gespeichert haben, erreichen wir nicht.

Kein Konto, kein Tracking. Für die Höchstzahl am Tag wird eine verschlüsselte Form deiner Netzadresse gezählt und nach Ende des Tages vergessen.

Der Dienst kommt, wie er ist, ohne Gewähr. Behalte eigene Kopien von Bildern, die dir wichtig sind.`,
}
