/** The terms, in English. */

export const terms = {
  link: 'Terms',
  title: 'Terms',
  description: 'What you may upload to Pinhole, and what happens to it.',
  operator: {
    heading: 'Who runs this service',
    named: '{name} runs this service.',
    unnamed: 'An operator who has not given a name runs this service.',
    contact: 'To reach them: ',
    noContact: 'The operator has not said how to be reached.',
  },
  sections: [
    {
      heading: 'What Pinhole does',
      paragraphs: [
        'Pinhole stores pictures and hands out links to them. By uploading you accept what is written here.',
      ],
    },
    {
      heading: 'What you may upload',
      paragraphs: [
        'Upload only what you may share. No pictures that are illegal, that show people in intimate situations without their consent, that abuse children, that threaten or harass, or that infringe the rights of others.',
      ],
    },
    {
      heading: 'What is removed, and why',
      paragraphs: [
        'The operator may remove any picture that breaks these terms or the law, and may block it from being uploaded again. The address of a removed picture then says so.',
        'Pictures are not removed for being old or seldom viewed.',
      ],
    },
    {
      heading: 'Who can see a picture',
      paragraphs: [
        'Anyone who has its link. Links are too long to guess, but treat them as public once you have shared them.',
      ],
    },
    {
      heading: 'Deleting',
      paragraphs: [
        'With the deletion key that you get when you upload, you can delete a picture at any time. It is then gone from this service for good. Copies in other people’s browsers, and copies that other people have saved, are out of our reach.',
      ],
    },
    {
      heading: 'Your data',
      paragraphs: [
        'No account, no tracking, no cookies. To hold the daily limit of uploads, a scrambled form of your network address is counted, and forgotten when the day is over.',
      ],
    },
    {
      heading: 'No warranty',
      paragraphs: ['The service comes as it is. Keep your own copies of pictures that matter to you.'],
    },
  ],
}
