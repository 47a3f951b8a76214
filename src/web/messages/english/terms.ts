/** The terms, in English. */

export const terms = {
  link: 'Terms',
  title: 'Terms',
  description: 'What you may upload to Pinhole, and what happens to it.',
  operator: {
    heading: 'Who runs this service',
    named: '{name} runs this service.',
    unnamed: 'The operator of this service hasn’t provided a name.',
    contact: 'To reach them: ',
    noContact: 'The operator hasn’t provided a contact address.',
  },
  sections: [
    {
      heading: 'What Pinhole does',
      paragraphs: [
        'Pinhole stores pictures and hands out links to them. By uploading, you agree to these terms.',
      ],
    },
    {
      heading: 'What you may upload',
      paragraphs: [
        'Upload only what you may share. No pictures that are illegal, that show people in intimate situations without their consent, that abuse children, that threaten or harass, or that infringe the rights of others.',
      ],
    },
    {
      heading: 'What gets removed, and why',
      paragraphs: [
        'The operator may remove any picture that breaks these terms or the law, and may block it from being uploaded again. The address of a removed picture then says so.',
        'Pictures are never removed just because they are old or rarely viewed.',
      ],
    },
    {
      heading: 'Who can see a picture',
      paragraphs: [
        'Anyone with the link. Links are too long to guess, but treat them as public once you have shared them.',
      ],
    },
    {
      heading: 'Deleting',
      paragraphs: [
        'With the deletion key you get when you upload, you can delete a picture at any time. It is then gone from this service for good. Copies in other people’s browsers, or saved by other people, are beyond our reach.',
      ],
    },
    {
      heading: 'Your data',
      paragraphs: [
        'No account, no tracking, no cookies. To enforce the daily upload limit, we count uploads by a scrambled form of your IP address, which is erased at the end of the day.',
      ],
    },
    {
      heading: 'No warranty',
      paragraphs: ['The service is provided as is. Keep your own copies of pictures that matter to you.'],
    },
  ],
}
