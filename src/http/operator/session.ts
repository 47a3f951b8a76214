/** The cookie of a session of the admin server (RFC 6265). */

const NAME = 'pinhole-operator'

export function sessionCookie(session: string, isSecure: boolean): string {
  return cookieOf(session, isSecure)
}

export function cookieOf(value: string, isSecure: boolean, maxAgeSeconds?: number): string {
  const parts = [`${NAME}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  if (isSecure) parts.push('Secure')
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`)
  return parts.join('; ')
}

/** `null` if there is none. */
export function sessionOf(cookies: string | undefined): string | null {
  for (const cookie of (cookies ?? '').split(';')) {
    const [name, value] = cookie.trim().split('=', 2)
    if (name === NAME && value) return value
  }
  return null
}
