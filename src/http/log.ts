/** Where the web layer writes. A pino logger is one. No address, key or query string goes in. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
