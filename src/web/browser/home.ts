document.documentElement.dataset.live = ''
