/** 48 random bits: no two claims of one thing draw the same. Never 0. */
export function randomToken(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
  return (high % 2 ** 16) * 2 ** 32 + low + 1
}
