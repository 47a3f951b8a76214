import type { Config } from '../../config.ts'

/** Where people reach the operator's door. No trailing slash. */
export function doorUrl({ operatorUrl, operatorListen }: Config): string {
  if (operatorUrl !== null) return operatorUrl
  return operatorListen.kind === 'address'
    ? `http://${operatorListen.host}:${operatorListen.port}`
    : 'http://operator'
}
