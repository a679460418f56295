const { getDefaultConfig, mergeConfig } = require('@react-native/metro-config')

// The modules that an app runs first are those of React Native, which is not installed here.
module.exports = mergeConfig(getDefaultConfig(__dirname), { serializer: { getModulesRunBeforeMainModule: () => [] } })
