/** The few XML documents that S3 answers with. They are flat, so no parser is needed. */

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first `<name>`, or `null`. */
export function textOf(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`)
  if (start < 0) return null
  const end = xml.indexOf(`</${name}>`, start)
  return end < 0 ? null : unescapeXml(xml.slice(start + name.length + 2, end))
}

/** The inside of each `<name>`, as XML. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  const open = `<${name}>`
  const close = `</${name}>`
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(close, at)
    if (end < 0) return
    yield xml.slice(at + open.length, end)
    at = xml.indexOf(open, end)
  }
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
