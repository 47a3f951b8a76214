/**
 * What is used of the binding that Cloudflare gives a Worker for a database.
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
  /** In one transaction, which one that fails rolls back. */
  batch(statements: D1Statement[]): Promise<D1Result[]>
}
