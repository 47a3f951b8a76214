/** What the form for reports says, in German. */
import type { Messages } from '../messages.ts'

export const report: Messages['report'] = {
  link: 'Melden',
  title: 'Ein Bild melden',
  lead: 'Wir prüfen jede Meldung. Eine Meldung allein entfernt noch kein Bild.',
  image: 'Link des Bildes',
  category: 'Worum geht es?',
  categories: {
    'child-abuse': 'Sexueller Missbrauch von Kindern',
    intimate: 'Intimes Bild, das ohne Einwilligung gezeigt wird',
    violence: 'Gewalt, Drohungen oder Terrorismus',
    'personal-data': 'Persönliche Daten oder meine Privatsphäre',
    malware: 'Betrug oder Schadsoftware',
    copyright: 'Urheberrecht',
    other: 'Etwas anderes, das gegen die Regeln verstößt',
  },
  text: 'Beschreibung',
  textHint: 'Was zeigt das Bild, und warum gehört es nicht hierher? 20 bis 2.000 Zeichen.',
  person: 'Angaben zu dir',
  personHint:
    'Nötig bei intimen Bildern, persönlichen Daten und Urheberrecht. Bei sexuellem Missbrauch von Kindern bitte leer lassen. Die Angaben werden 30 Tage nach der Entscheidung gelöscht (Urheberrecht: 180).',
  name: 'Name',
  email: 'E-Mail-Adresse',
  signature: 'Unterschrift: dein voller Name (intime Bilder und Urheberrecht)',
  goodFaith: 'Ich versichere nach bestem Wissen, dass meine Angaben richtig und vollständig sind.',
  send: 'Meldung absenden',
  /** Above the form that was not taken, by code. */
  refused: { 'not-found': 'Unter diesem Link gibt es kein Bild.' } as Record<string, string>,
  receiptTitle: 'Deine Meldung',
  receiptLead: 'Setze ein Lesezeichen auf diese Seite: Hier steht, was aus deiner Meldung wird.',
  counted:
    'Deine Meldung ist gezählt, und das Bild wird geprüft. Weil gerade sehr viele Meldungen kommen, wurde ihr Text nicht aufbewahrt.',
  reported: 'Gesendet',
  decision: 'Entscheidung',
  states: {
    open: 'Wird geprüft.',
    held: 'Das Bild ist verborgen, solange wir es prüfen.',
    kept: 'Das Bild bleibt: Es verstößt nicht gegen die Regeln.',
    removed: 'Das Bild wurde entfernt.',
  },
  decided: 'Entschieden',
}

export const transparency: Messages['transparency'] = {
  title: 'Transparenz',
  lead: 'Wie viele Bilder hier gemeldet wurden und wie der Betreiber entschieden hat. Mehrere Meldungen desselben Bildes zählen als eine.',
  none: 'Bisher wurde nichts gemeldet.',
  states: { open: 'Offen', held: 'Verborgen', kept: 'Behalten', removed: 'Entfernt' },
}
