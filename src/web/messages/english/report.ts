/** What the form for reports says, in English. */

export const report = {
  link: 'Report',
  title: 'Report a picture',
  lead: 'Someone looks at every report. A report alone removes nothing.',
  image: 'Link of the picture',
  category: 'What is wrong?',
  categories: {
    'child-abuse': 'Sexual abuse of children',
    intimate: 'An intimate picture, shown without consent',
    violence: 'Violence, threats or terrorism',
    'personal-data': 'Personal data, or my privacy',
    malware: 'Fraud or malware',
    copyright: 'Copyright',
    other: 'Something else that breaks the rules',
  },
  text: 'Describe it',
  textHint: 'What does the picture show, and why should it not be here? 20 to 2,000 characters.',
  person: 'Who you are',
  personHint:
    'Needed for intimate pictures, personal data and copyright. Leave it empty for sexual abuse of children. It is deleted 30 days after the decision (copyright: 180).',
  name: 'Name',
  email: 'E-mail address',
  signature: 'Signature: your full name (intimate pictures and copyright)',
  goodFaith: 'I believe in good faith that what I say is right and complete.',
  send: 'Send the report',
  /** Above the form that was not taken, by code. */
  refused: { 'not-found': 'This picture isn’t here.' } as Record<string, string>,
  receiptTitle: 'Your report',
  receiptLead: 'Keep the address of this page. It shows what becomes of your report.',
  counted:
    'So many reports came that the words of this one were not kept. It is counted, and the picture is checked all the same.',
  reported: 'Sent',
  decision: 'Decision',
  states: {
    open: 'Nobody has decided yet.',
    held: 'The picture is out of sight while it is being checked.',
    kept: 'The picture stays: it does not break the rules.',
    removed: 'The picture was removed.',
  },
  decided: 'Decided',
}

export const transparency = {
  title: 'Transparency',
  lead: 'How many pictures people reported here, and what the operator decided. A picture that was reported several times counts once.',
  none: 'Nothing has been reported yet.',
  states: { open: 'Open', held: 'Held', kept: 'Kept', removed: 'Removed' },
}
