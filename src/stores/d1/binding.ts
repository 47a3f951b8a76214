/**
 * The subset of Cloudflare's D1 database binding that Pinhole uses.
 *
 * Source: Cloudflare D1, Workers binding API.
 */

export interface D1Result {
  readonly results: Record<string, string | number | null>[]
  readonly meta: { readonly changes: number }
}

export interface D1Statement {
  bind(...values: (string | number)[]): D1Statement
  all(): Promise<D1Result>
}

export interface D1Binding {
  prepare(sql: string): D1Statement
  /** In one transaction, rolled back if any statement fails. */
  batch(statements: D1Statement[]): Promise<D1Result[]>
}
