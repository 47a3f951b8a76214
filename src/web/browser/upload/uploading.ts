/** What is fetched when the first picture is chosen. */
export { compress, send } from '../../../client/browser.ts'
export { reasonOf } from './refusal-text.ts'
