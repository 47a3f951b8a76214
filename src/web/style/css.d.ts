/** A style sheet that a script imports. The bundler emits it as a file and loads it with the script. */
declare module '*.css'
