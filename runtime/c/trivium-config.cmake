# find_package(trivium) defines the target trivium::trivium.
get_filename_component(trivium_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET trivium::trivium)
  add_library(trivium::trivium SHARED IMPORTED)
  set_target_properties(trivium::trivium PROPERTIES
    IMPORTED_LOCATION "${trivium_prefix}/lib/libtrivium.so"
    INTERFACE_INCLUDE_DIRECTORIES "${trivium_prefix}/include")
endif()
