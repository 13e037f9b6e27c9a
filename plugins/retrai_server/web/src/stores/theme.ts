import { defineStore } from 'pinia'
import { computed, ref, watchEffect } from 'vue'

type Theme = 'light' | 'dark'
const KEY = 'retrai-theme'

/** Light or dark: the system's, until a person chooses. */
export const useTheme = defineStore('theme', () => {
  const media = window.matchMedia('(prefers-color-scheme: dark)')
  const system = ref<Theme>(media.matches ? 'dark' : 'light')
  media.addEventListener('change', () => (system.value = media.matches ? 'dark' : 'light'))
  const saved = localStorage.getItem(KEY)
  const chosen = ref<Theme | null>(saved === 'light' || saved === 'dark' ? saved : null)
  const theme = computed(() => chosen.value ?? system.value)

  watchEffect(() => (document.documentElement.dataset.theme = theme.value))

  function toggle(): void {
    chosen.value = theme.value === 'dark' ? 'light' : 'dark'
    localStorage.setItem(KEY, chosen.value)
  }

  return { theme, toggle }
})
