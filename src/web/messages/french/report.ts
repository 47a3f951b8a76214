/** What the form for reports says, in French. */
import type { Messages } from '../messages.ts'

export const report: Messages['report'] = {
  link: 'Signaler',
  title: 'Signaler une image',
  lead: 'Nous examinons chaque signalement. Un signalement ne suffit pas à retirer une image.',
  image: 'Lien de l’image',
  category: 'De quoi s’agit-il\u00a0?',
  categories: {
    'child-abuse': 'Abus sexuels sur des enfants',
    intimate: 'Image intime diffusée sans consentement',
    violence: 'Violence, menaces ou terrorisme',
    'personal-data': 'Données personnelles ou vie privée',
    malware: 'Escroquerie ou logiciel malveillant',
    copyright: 'Droit d’auteur',
    other: 'Autre chose qui enfreint les règles',
  },
  text: 'Description',
  textHint:
    'Que montre l’image, et pourquoi n’a-t-elle pas sa place ici\u00a0? De 20 à 2\u00a0000 caractères.',
  person: 'Qui vous êtes',
  personHint:
    'Nécessaire pour les images intimes, les données personnelles et le droit d’auteur. À laisser vide pour les abus sexuels sur des enfants. Ces données sont effacées 30 jours après la décision (droit d’auteur\u00a0: 180).',
  name: 'Nom',
  email: 'Adresse e-mail',
  signature: 'Signature\u00a0: votre nom complet (images intimes et droit d’auteur)',
  goodFaith: 'Je déclare de bonne foi que ce que j’indique est exact et complet.',
  send: 'Envoyer le signalement',
  /** Above the form that was not taken, by code. */
  refused: { 'not-found': 'Il n’y a pas d’image à cette adresse.' } as Record<string, string>,
  receiptTitle: 'Votre signalement',
  receiptLead: 'Ajoutez cette page à vos favoris\u00a0: elle montre la suite donnée à votre signalement.',
  counted:
    'Votre signalement est compté, et l’image sera examinée. Les signalements étant très nombreux, son texte n’a pas été conservé.',
  reported: 'Envoyé',
  decision: 'Décision',
  states: {
    open: 'En cours d’examen.',
    held: 'L’image est masquée pendant son examen.',
    kept: 'L’image reste\u00a0: elle n’enfreint pas les règles.',
    removed: 'L’image a été supprimée.',
  },
  decided: 'Décidé',
}

export const transparency: Messages['transparency'] = {
  title: 'Transparence',
  lead: 'Combien d’images ont été signalées ici, et ce que l’exploitant a décidé. Une image signalée plusieurs fois ne compte qu’une fois.',
  none: 'Rien n’a encore été signalé.',
  states: { open: 'En attente', held: 'Masquées', kept: 'Conservées', removed: 'Supprimées' },
}
