/** The bundler makes a file of a style that a script imports, and fetches it with that script. */
declare module '*.css'
