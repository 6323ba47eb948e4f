package main

// messages are protobuf messages that no encoder would write.
func messages() []input {
	configMap := func(text string) input { return input{"v1", "ConfigMap", text} }
	pod := func(text string) input { return input{"v1", "Pod", text} }
	return []input{
		configMap(""),
		configMap("\x0a"),       // no length
		configMap("\x0a\x05ab"), // too short
		configMap("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), // a negative length
		configMap("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		configMap("\x08\x01"),              // metadata as a number
		configMap("\x22\x01x"),             // immutable as bytes
		configMap("\x20\x00"),              // immutable: false
		configMap("\x20\x02"),              // immutable: 2
		configMap("\x00"),                  // tag 0
		configMap("\x0c"),                  // end of no group
		configMap("\x0f"),                  // no wire type
		configMap("\x7a\x01x\xf8\x07\x01"), // unknown fields
		configMap("\x7b\x08\x01\x7c"),      // an unknown group
		configMap("\x7b\x08\x01"),          // an unfinished group
		configMap("\x7d\x01\x02\x03\x04\x79\x01\x02\x03\x04\x05\x06\x07\x08"), // unknown fixed
		configMap("\x7d\x01\x02"),      // too short
		configMap("\x7f"),              // unknown and no wire type
		configMap("\x12\x00"),          // data: {"": ""}
		configMap("\x12\x03\x0a\x01k"), // no value
		configMap("\x12\x06\x0a\x01k\x12\x01v\x12\x06\x0a\x01k\x12\x01w"), // a key twice
		configMap("\x12\x08\x1a\x00\x0a\x01k\x12\x01v"),                   // an unknown field in an entry
		configMap("\x1a\x06\x0a\x01k\x12\x01\xff"),                        // bytes
		configMap("\x12\x06\x0a\x01k\x12\x01\xff"),                        // a string that is not UTF-8
		configMap("\x12\x09\x0a\x01k\x12\x04\xf0\x9f\x98a"),
		configMap("\x0a\x03\x0a\x01a\x0a\x03\x1a\x01b"),                                   // metadata twice
		configMap("\x0a\x03\x0a\x01a\x0a\x02\x0a\x00"),                                    // name taken back
		configMap("\x0a\x02\x42\x00"),                                                     // an empty time
		configMap("\x0a\x04\x42\x02\x08\x05"),                                             // 5 s
		configMap("\x0a\x06\x42\x04\x08\x05\x10\x07"),                                     // 5 s and 7 ns
		configMap("\x0a\x0f\x42\x0d\x08\x80\x92\xb8\xc3\x98\xfe\xff\xff\xff\x01\x10\x00"), // the zero time
		configMap("\x0a\x03\x42\x01\x08"),
		configMap("\x0a\x02\x50\x00"),                                     // deletionGracePeriodSeconds: 0
		configMap("\x0a\x0b\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), // -1
		pod("\x12\x04\x12\x02\x12\x00"),                                   // image: ""
		pod("\x12\x04\x72\x02\x20\x05"),                                   // securityContext.supplementalGroups: [5]
		pod("\x12\x05\x72\x03\x22\x01\x05"),                               // the same, packed
		pod("\x12\x07\x72\x05\x22\x03\x05\x06\x07"),
		pod("\x12\x05\x72\x03\x22\x01\x85"),                                     // packed and cut off
		pod("\x12\x05\x12\x03\x12\x02x"),                                        // cut off
		pod("\x12\x10\x12\x0e\x42\x0c\x0a\x0a\x0a\x03cpu\x12\x03\x0a\x011"),     // limits: {cpu: 1}
		pod("\x12\x0d\x12\x0b\x42\x09\x0a\x07\x0a\x03cpu\x12\x00"),              // no quantity
		pod("\x12\x10\x12\x0e\x42\x0c\x0a\x0a\x0a\x03cpu\x12\x03\x0a\x01x"),     // none that parses
		pod("\x12\x0b\x12\x09\x52\x07\x0a\x05\x12\x03\x12\x01\x00"),             // livenessProbe.httpGet.port
		pod("\x12\x0e\x12\x0c\x52\x0a\x0a\x08\x12\x06\x12\x04\x08\x01\x1a\x00"), // port: ""
	}
}
