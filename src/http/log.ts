/** Logger of the web layer; a pino logger fits. Never log client addresses, keys or query strings. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
