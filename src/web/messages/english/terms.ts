/** The terms, in English. */

export const terms = {
  link: 'Terms',
  title: 'Terms',
  description: 'What you may upload to Pinhole, and what happens to it.',
  text: `Pinhole stores pictures and hands out links to them. By uploading you accept the following.

Upload only what you may share. No pictures that are illegal, that show people in intimate situations without their consent, that abuse children, that threaten or harass, or that infringe the rights of others.

The operator of this service may remove any picture that breaks these terms, and may block it from being uploaded again.

Anyone who has a picture’s link can see it. Links are too long to guess, but treat them as public once you have shared them.

With the deletion key that you get when you upload, you can delete a picture at any time. It is then gone from this service for good. Copies in other people’s browsers, and copies that other people have saved, are out of our reach.

No account, no tracking. To hold the limit of uploads a day, a scrambled form of your network address is counted, and forgotten when the day is over.

The service comes as it is, without warranty. Keep your own copies of pictures that matter to you.`,
}
