/** What the form for reports says, in English. */

export const report = {
  link: 'Report',
  title: 'Report a picture',
  lead: 'We review every report. Reporting doesn’t remove a picture by itself.',
  image: 'Link of the picture',
  category: 'What’s wrong?',
  categories: {
    'child-abuse': 'Sexual abuse of children',
    intimate: 'An intimate picture, shown without consent',
    violence: 'Violence, threats or terrorism',
    'personal-data': 'Personal data, or my privacy',
    malware: 'Fraud or malware',
    copyright: 'Copyright',
    other: 'Something else that breaks the rules',
  },
  text: 'Description',
  textHint: 'What does the picture show, and why should it be removed? 20 to 2,000 characters.',
  person: 'Your details',
  personHint:
    'Required for intimate pictures, personal data and copyright. Leave empty for sexual abuse of children. Deleted 30 days after the decision (copyright: 180).',
  name: 'Name',
  email: 'Email address',
  signature: 'Signature: your full name (intimate pictures and copyright)',
  goodFaith: 'I believe in good faith that this report is accurate and complete.',
  send: 'Send report',
  /** Above the form that was not taken, by code. */
  refused: { 'not-found': 'There’s no picture at this link.' } as Record<string, string>,
  receiptTitle: 'Your report',
  receiptLead: 'Bookmark this page to follow your report.',
  counted:
    'Your report was counted, and the picture will be reviewed. Because there are many reports right now, its text was not kept.',
  reported: 'Sent',
  decision: 'Decision',
  states: {
    open: 'Under review.',
    held: 'The picture is hidden while we review it.',
    kept: 'The picture stays. It doesn’t break the rules.',
    removed: 'The picture was removed.',
  },
  decided: 'Decided',
}

export const transparency = {
  title: 'Transparency',
  lead: 'How many pictures were reported here, and what was decided. A picture reported several times counts once.',
  none: 'Nothing has been reported yet.',
  states: { open: 'Open', held: 'Held', kept: 'Kept', removed: 'Removed' },
}
