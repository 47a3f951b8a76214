/** The name of a form's field, from the Content-Disposition of its part (RFC 7578, 4.2). */

/** A parameter: its name, and its value quoted or not. Browsers put UTF-8 as it is into quoted file names. */
const PARAMETER = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]*))/y

/** `null` if it names no field, or two. What else it says, such as a file name, is not looked into. */
export function fieldName(disposition: string | string[] | undefined): string | null {
  if (typeof disposition !== 'string') return null
  const kind = /^\s*form-data(?=\s*(;|$))/i.exec(disposition)
  if (kind === null) return null
  let name: string | null = null
  PARAMETER.lastIndex = kind[0].length
  for (let match = PARAMETER.exec(disposition); match !== null; match = PARAMETER.exec(disposition)) {
    if (match[1]!.toLowerCase() !== 'name') continue
    if (name !== null) return null
    name = match[2] ?? match[3]!
  }
  return name
}
