/** Report form: requires contact details where the law does. Works without scripts, because the server validates, too. */

const category = document.getElementById('category') as HTMLSelectElement

function updateRequired(): void {
  const needs = (category.selectedOptions[0]?.dataset.needs ?? '').split(' ')
  for (const name of ['name', 'email', 'signature']) {
    const field = document.getElementById(name) as HTMLInputElement
    field.required = needs.includes(name)
  }
}

category.addEventListener('change', updateRequired)
// After going back, the browser restores the form only after this script ran.
addEventListener('pageshow', updateRequired)
updateRequired()
