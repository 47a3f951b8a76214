/** Drag and drop, and paste, anywhere on the page: files, folders, and images from another tab. */
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'

export interface IntakeOptions {
  onFiles(files: File[]): void
  /** Only a URL was dropped or pasted, which this page may not fetch. */
  onLink(): void
}

/** `onDrag`: a drag entered the page. */
export function acceptDrops({ onDrag, onFiles, onLink }: IntakeOptions & { onDrag(): void }): void {
  const root = document.documentElement
  let isOwnDrag = false
  /** `dragenter` on a child fires before `dragleave` on its parent, so count both. */
  let depth = 0
  const endDrag = () => {
    depth = 0
    delete root.dataset.dragging
  }
  const hasImages = (event: DragEvent) =>
    !isOwnDrag && event.dataTransfer?.types.some((type) => type === 'Files' || type === 'text/uri-list')

  addEventListener('dragstart', () => {
    isOwnDrag = true
  })
  addEventListener('dragend', () => {
    isOwnDrag = false
  })
  addEventListener('dragenter', (event) => {
    if (!hasImages(event)) return
    if (depth === 0) onDrag()
    depth++
    root.dataset.dragging = ''
  })
  addEventListener('dragleave', () => {
    if (depth > 0 && --depth === 0) endDrag()
  })
  addEventListener('dragover', (event) => {
    if (!hasImages(event)) return
    event.preventDefault()
    event.dataTransfer!.dropEffect = 'copy'
  })
  addEventListener('drop', async (event) => {
    if (!hasImages(event)) return
    event.preventDefault()
    endDrag()
    const transfer = event.dataTransfer!
    const address = transfer.getData('text/uri-list').split(/\r?\n/)[0] ?? ''
    // `items` is emptied when this handler returns, so read it before the first await.
    const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? [])
    const files = entries.some((entry) => entry.isDirectory)
      ? await (await loadFolders())?.filesOfEntries(entries)
      : [...transfer.files]
    if (!files) return say(words.unreachable)
    const isInline = files.length === 0 && address.startsWith('data:')
    const inline = isInline && (await loadFolders())?.fileOfDataUrl(address)
    if (inline) onFiles([inline])
    else if (files.length === 0 && address) onLink()
    else onFiles(files)
  })
}

/** `null` if the chunk failed to load. */
const loadFolders = () => import('./folders.ts').catch(() => null)

/** Handles pastes anywhere on the page, except into text fields. */
export function acceptPastes({ onFiles, onLink }: IntakeOptions): void {
  addEventListener('paste', (event) => {
    if (
      (event.target as Element).closest?.(
        'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea',
      )
    )
      return
    const clipboard = event.clipboardData!
    const files = [...clipboard.files]
    const isLink =
      /^\s*https?:\/\/\S+\s*$/i.test(clipboard.getData('text/plain')) ||
      // Copied from a document or a page together with its surroundings: only the picture's address.
      /<img\b/i.test(clipboard.getData('text/html'))
    event.preventDefault()
    if (files.length === 0 && isLink) onLink()
    else onFiles(files)
  })
}
