/** Pictures pasted anywhere on the page. */
export function takePastes(onFiles: (files: File[]) => void): void {
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])]
    if (files.length === 0) return
    event.preventDefault()
    onFiles(files)
  })
}
