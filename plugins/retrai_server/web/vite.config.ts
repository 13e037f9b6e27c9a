import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

const OUT = '../src/retrai_server/static'
const STAMP = 'build.sha256'
const SOURCES = [
  'public/icon.svg',
  'index.html',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'vite.config.ts',
]

function filesIn(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true })
  return inside.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
}

/** One hash of files by name; `tests/server/dashboard/test_build.py` computes the same one. */
function hashOf(names: string[]): string {
  const hash = createHash('sha256')
  for (const name of names.sort()) {
    hash.update(`${relative(OUT, name).startsWith('..') ? name : relative(OUT, name)}\0`)
    hash.update(readFileSync(name))
  }
  return hash.digest('hex')
}

function stamp(): Plugin {
  return {
    name: 'stamp',
    apply: 'build',
    closeBundle() {
      const [sources, built] = [hashOf([...SOURCES, ...filesIn('src')]), hashOf(filesIn(OUT))]
      writeFileSync(join(OUT, STAMP), `sources ${sources}\nbuilt ${built}\n`)
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
