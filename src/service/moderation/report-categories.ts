/** Categories of reports, the most severe first, and what the law requires of reporters. */

export type ReportCategory =
  | 'child-abuse'
  | 'intimate'
  | 'violence'
  | 'personal-data'
  | 'malware'
  | 'copyright'
  | 'other'

export interface CategoryRules {
  /** 0 is the most severe. */
  severity: number
  /** Time limit for the operator's decision. Unit: hours. */
  dueHours: number
  /** Name and e-mail address. Never asked for child abuse: DSA, Art. 16(2)(c). */
  contact: 'required' | 'optional' | 'none'
  /** TAKE IT DOWN Act, sec. 3; 17 USC 512(c)(3)(A)(i). */
  needsSignature: boolean
  /** The reporter's name, e-mail address and text are deleted this long after the decision. Unit: days. */
  keptDays: number
}

export const CATEGORIES: Record<ReportCategory, CategoryRules> = {
  'child-abuse': { severity: 0, dueHours: 1, contact: 'none', needsSignature: false, keptDays: 30 },
  // The TAKE IT DOWN Act gives 48 hours.
  intimate: { severity: 1, dueHours: 48, contact: 'required', needsSignature: true, keptDays: 30 },
  violence: { severity: 2, dueHours: 24, contact: 'optional', needsSignature: false, keptDays: 30 },
  'personal-data': { severity: 3, dueHours: 72, contact: 'required', needsSignature: false, keptDays: 30 },
  malware: { severity: 3, dueHours: 72, contact: 'optional', needsSignature: false, keptDays: 30 },
  // A counter-notice may come weeks later: 17 USC 512(g).
  copyright: { severity: 4, dueHours: 168, contact: 'required', needsSignature: true, keptDays: 180 },
  other: { severity: 5, dueHours: 168, contact: 'optional', needsSignature: false, keptDays: 30 },
}

/** A category, or a custom rule of the operator's. */
export const RULE_PATTERN = /^[a-z][a-z0-9-]{0,39}$/

export function isCategory(text: string): text is ReportCategory {
  return Object.hasOwn(CATEGORIES, text)
}

/** Length limits of a report's text. Unit: characters. */
export const REPORT_TEXT = { min: 20, max: 2000 }
