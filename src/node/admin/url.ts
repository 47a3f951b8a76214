import type { Config } from '../../config.ts'

/** Where people reach the admin server. No trailing slash. */
export function adminUrl({ operatorUrl, operatorListen }: Config): string {
  if (operatorUrl !== null) return operatorUrl
  return operatorListen.kind === 'address'
    ? `http://${operatorListen.host}:${operatorListen.port}`
    : 'http://operator'
}
