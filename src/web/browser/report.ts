/** The form for reports asks for a name where the law does, before it is sent. It works without: the server asks, too. */

const category = document.getElementById('category') as HTMLSelectElement

function settle(): void {
  const needs = (category.selectedOptions[0]?.dataset.needs ?? '').split(' ')
  for (const name of ['name', 'email', 'signature']) {
    const field = document.getElementById(name) as HTMLInputElement
    field.required = needs.includes(name)
  }
}

category.addEventListener('change', settle)
// A browser that went back fills the form in again, after this.
addEventListener('pageshow', settle)
settle()
