/** One step of the ledger's tables. */
export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
  /** What Postgres alone runs, after `statements`. */
  readonly postgres?: readonly string[]
}
