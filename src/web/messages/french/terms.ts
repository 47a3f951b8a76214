/** The terms, in French. */
import type { Messages } from '../messages.ts'

export const terms: Messages['terms'] = {
  link: 'Conditions',
  title: 'Conditions',
  description: 'Ce que vous pouvez envoyer sur Pinhole, et ce qu’il en advient.',
  text: `Pinhole conserve des images et donne des liens vers elles. En envoyant une image, vous acceptez ce qui suit.

N’envoyez que ce que vous avez le droit de partager. Aucune image illégale, montrant des personnes dans leur intimité sans leur accord, abusant d’enfants, menaçante ou harcelante, ou portant atteinte aux droits d’autrui.

L’exploitant de ce service peut retirer toute image contraire à ces conditions et empêcher qu’elle soit envoyée de nouveau.

Toute personne qui a le lien d’une image peut la voir. Les liens sont trop longs pour être devinés, mais considérez-les comme publics dès que vous les avez partagés.

Avec la clé de suppression reçue à l’envoi, vous pouvez supprimer une image à tout moment. Elle disparaît alors de ce service pour de bon. Les copies dans les navigateurs d’autres personnes, et celles qu’elles ont enregistrées, sont hors de notre portée.

Pas de compte, pas de pistage. Pour tenir la limite quotidienne, une forme brouillée de votre adresse réseau est comptée, puis oubliée à la fin de la journée.

Le service est fourni tel quel, sans garantie. Gardez vos propres copies des images qui comptent pour vous.`,
}
