import type { ByteSource, Inspection } from '../../formats/image.ts'
import { jpegFactsOf } from './jpeg-facts.ts'
import type { Facts } from './plan.ts'

/** What the policy asks about a file that was inspected, and its colour profile, which a new file must carry on. */
export async function examine(
  source: ByteSource,
  { type, width, height, animated }: Inspection,
): Promise<{ facts: Facts; profile: Uint8Array | null }> {
  const facts = { type, width, height, animated }
  if (type === 'image/jpeg') {
    const { facts: jpeg, profile } = await jpegFactsOf(source)
    return { facts: { ...facts, jpeg }, profile }
  }
  if (type === 'image/png' && !animated) {
    const { pngFactsOf } = await import('./png-facts.ts')
    const { facts: png, profile } = await pngFactsOf(source)
    return { facts: { ...facts, png }, profile }
  }
  return { facts, profile: null }
}
