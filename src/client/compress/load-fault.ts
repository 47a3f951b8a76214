/** A script or a codec could not be loaded: the file is not to blame. */
export class LoadFault extends Error {}

/** Rejects with a `LoadFault`. */
export async function loaded<T>(part: Promise<T>): Promise<T> {
  try {
    return await part
  } catch (error) {
    throw new LoadFault(error instanceof Error ? error.message : String(error))
  }
}
