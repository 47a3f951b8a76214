/** The terms, in French. */
import type { Messages } from '../messages.ts'

export const terms: Messages['terms'] = {
  link: 'Conditions',
  title: 'Conditions',
  description: 'Ce que vous pouvez envoyer sur Pinhole, et ce qu’il en advient.',
  operator: {
    heading: 'Qui exploite ce service',
    named: '{name} exploite ce service.',
    unnamed: 'L’exploitant de ce service n’a pas indiqué de nom.',
    contact: 'Pour le joindre\u00a0: ',
    noContact: 'L’exploitant n’a indiqué aucun moyen de le joindre.',
  },
  sections: [
    {
      heading: 'Ce que fait Pinhole',
      paragraphs: [
        'Pinhole héberge des images et fournit des liens pour les partager. En envoyant une image, vous acceptez ces conditions.',
      ],
    },
    {
      heading: 'Ce que vous pouvez envoyer',
      paragraphs: [
        'N’envoyez que ce que vous avez le droit de partager. Sont interdites les images illégales, celles qui montrent des personnes dans leur intimité sans leur accord ou des abus sexuels sur des enfants, celles qui menacent ou harcèlent, et celles qui portent atteinte aux droits d’autrui.',
      ],
    },
    {
      heading: 'Ce qui est retiré, et pourquoi',
      paragraphs: [
        'L’exploitant peut retirer toute image contraire à ces conditions ou à la loi, et empêcher qu’elle soit envoyée de nouveau. L’adresse d’une image retirée l’indique alors.',
        'Aucune image n’est retirée parce qu’elle est ancienne ou rarement vue.',
      ],
    },
    {
      heading: 'Qui peut voir une image',
      paragraphs: [
        'Toute personne qui possède le lien. Les liens sont trop longs pour être devinés, mais considérez-les comme publics dès que vous les avez partagés.',
      ],
    },
    {
      heading: 'Supprimer',
      paragraphs: [
        'Avec la clé de suppression reçue à l’envoi, vous pouvez supprimer une image à tout moment. Elle disparaît alors de ce service pour de bon. Les copies dans d’autres navigateurs, et celles que d’autres ont enregistrées, sont hors de notre portée.',
      ],
    },
    {
      heading: 'Vos données',
      paragraphs: [
        'Pas de compte, pas de pistage, pas de cookies. Pour appliquer la limite quotidienne, le service compte une empreinte de votre adresse IP, puis l’oublie à la fin de la journée.',
      ],
    },
    {
      heading: 'Aucune garantie',
      paragraphs: [
        'Le service est fourni tel quel. Gardez vos propres copies des images qui comptent pour vous.',
      ],
    },
  ],
}
