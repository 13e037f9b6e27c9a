import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

const OUT = '../src/retrai_server/static'
const SOURCES = [
  'index.html',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'vite.config.ts',
]

/** The hash of all sources; `tests/server/dashboard/test_build.py` computes the same one. */
function sourcesHash(): string {
  const inside = readdirSync('src', { recursive: true, withFileTypes: true })
  const files = inside.filter((file) => file.isFile())
  const names = [...SOURCES, ...files.map((file) => join(file.parentPath, file.name))]
  const hash = createHash('sha256')
  for (const name of names.sort()) {
    hash.update(`${name}\0`)
    hash.update(readFileSync(name))
  }
  return hash.digest('hex')
}

function stamp(): Plugin {
  return {
    name: 'stamp',
    apply: 'build',
    closeBundle() {
      writeFileSync(join(OUT, 'sources.sha256'), `${sourcesHash()}\n`)
    },
  }
}

export default defineConfig({
  plugins: [vue(), stamp()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // The server has browsers ask again each time: names that stay keep the diffs small.
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
})
