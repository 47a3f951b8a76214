/** Words that the pages of the admin server share. They are English. */
import { english } from '../messages/english/english.ts'

/** As the form for reports has it; another rule as it is. */
export function categoryName(category: string): string {
  const names: Record<string, string> = english.report.categories
  return names[category] ?? category
}

export function dueIn(dueAt: number, now: number): string {
  const minutes = Math.floor(Math.abs(dueAt - now) / 60_000)
  const span = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
  return dueAt < now ? `overdue by ${span}` : `due in ${span}`
}
