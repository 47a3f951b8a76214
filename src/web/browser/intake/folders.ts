/** Reads dropped folders and `data:` URLs. Loaded at the first such drop. */

/** Most files that are taken from what is dropped. */
const MAX_FILES = 1000

const PICTURE_NAME = /\.(jpe?g|jfif|png|apng|gif|webp|avif|heic|heif|hif|jxl)$/i

/** Every file among `entries`, and every picture in the folders among them, however deep. */
export async function filesOfEntries(entries: FileSystemEntry[]): Promise<File[]> {
  const files: File[] = []
  const walk = async (entry: FileSystemEntry, isInside: boolean): Promise<void> => {
    if (files.length >= MAX_FILES) return
    if (entry.isFile) {
      // A folder holds other things too; only what was chosen by hand is worth a word when it is no picture.
      if (isInside && !PICTURE_NAME.test(entry.name)) return
      const file = await fileOf(entry as FileSystemFileEntry).catch(() => null)
      if (file) files.push(file)
    } else {
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await walk(child, true)
    }
  }
  for (const entry of entries) await walk(entry, false)
  return files
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  // A reader gives 100 at a time, and none when it is through.
  for (;;) {
    // A folder that may not be read costs no file beside it.
    const some = await new Promise<FileSystemEntry[]>((resolve) =>
      reader.readEntries(resolve, () => resolve([])),
    )
    if (some.length === 0) return children.sort((a, b) => a.name.localeCompare(b.name))
    children.push(...some)
  }
}

/** Some pages carry their pictures in the address itself. */
export function fileOfDataUrl(address: string): File | null {
  const [, type, base64] = /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/=]+)$/.exec(address) ?? []
  if (!base64) return null
  return new File([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], '', {
    type,
  })
}
